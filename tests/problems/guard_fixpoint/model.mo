model GuardFixpoint "guard depends on what it guards; one solution"
  Real x, y(start=-1,fixed=true); Boolean g;
equation
  der(y) = 1;
  g = x > 0;
  if g then x = 2*y; else x = y; end if;
end GuardFixpoint;
