model RefusedGuardCycle
  Real x, y(start=0,fixed=true); Boolean g;
equation
  der(y) = 1;
  g = x > 0;
  if g then x = y - 2; else x = y + 1; end if;
end RefusedGuardCycle;
