model EdgeNested "edge, change and pre of what changes at the same instant"
  Boolean a, b(start = false, fixed = true), c(start = false, fixed = true);
  Integer n(start = 0, fixed = true), k(start = 0, fixed = true), q(start = 0, fixed = true);
equation
  a = sin(2*time) > 0.5;
  when edge(a) then
    b = not pre(b);
  end when;
  when change(b) then
    n = pre(n) + 1;
    c = not pre(c);
  end when;
  when {edge(c), c and not pre(c), not c and pre(c)} then
    k = pre(k) + (if edge(c) then 10 else 1);
  end when;
  when {a, b, c} then
    q = pre(q) + 1;
  end when;
end EdgeNested;
