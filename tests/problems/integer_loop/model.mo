model IntegerLoop "Integer unknowns in a chain at one instant"
  Integer a(start = 0, fixed = true), b, c;
  Boolean even;
equation
  when sample(0.1, 0.1) then
    a = if pre(a) >= 5 then 0 else pre(a) + 1;
  end when;
  b = 2*a + 1;
  even = mod(b - 1, 4) == 0;
  c = if even then b else -b;
end IntegerLoop;
