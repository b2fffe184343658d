model RefusedTwoSwitches
  Real x(start=1,fixed=true), v; Boolean s1, s2;
equation
  s1 = time > 1; s2 = time > 2;
  der(x) = -x + v;
  if s1 then x = 1; else v = 0; end if;
  if s2 then x = 2; else v = 0; end if;
end RefusedTwoSwitches;
