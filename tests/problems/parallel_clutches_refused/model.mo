model ParallelClutchesRefused "two clutches side by side: with both closed nothing tells their torques apart"
  Real v1(start = 1, fixed = true), v2(start = 2, fixed = true), a, b;
  Boolean s1 = time >= 1, s2 = time >= 2;
equation
  der(v1) = -a - b - 0.3*v1;
  der(v2) = a + b;
  if s1 then v1 = 2*v2; else a = 0; end if;
  if s2 then 4*v2 = 2*v1; else b = 0; end if;
end ParallelClutchesRefused;
