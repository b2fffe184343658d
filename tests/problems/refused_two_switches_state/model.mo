model RefusedTwoSwitchesState
  Real x(start=0,fixed=true), u(start=0,fixed=true), v, w; Boolean s1, s2;
equation
  s1 = u > 1; s2 = u > 2;
  der(u) = 1;
  der(x) = v + w;
  if s1 then x = 1; else v = 0; end if;
  if s2 then x = 2; else w = 0; end if;
end RefusedTwoSwitchesState;
