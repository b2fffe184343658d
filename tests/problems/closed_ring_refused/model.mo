model ClosedRingRefused "three capacitors tied together in a ring that a state closes: two ties would do"
  Real v1(start = 1, fixed = true), v2(start = 2, fixed = true), v3(start = 3, fixed = true), a, b, c, x(start = 0, fixed = true);
  Boolean on = x >= 1;
equation
  der(x) = 1;
  der(v1) = c - a;
  der(v2) = a - b;
  der(v3) = b - c;
  if on then v1 = v2; v2 = v3; v3 = v1; else a = 0; b = 0; c = 0; end if;
end ClosedRingRefused;
