model WhenIntegerLoop "Integers and Booleans of when-equations that read each other: computed until they agree"
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true), k(start = 0, fixed = true);
  Boolean a(start = false, fixed = true), b(start = false, fixed = true);
equation
  when sample(0.5, 1) then
    n = min(m + 1, 100 + pre(n));
    m = min(n + 1, 90);
    a = not b and not pre(a);
    b = a and pre(b);
    k = if n > 50 then pre(k) + 1 else pre(k);
  end when;
end WhenIntegerLoop;
