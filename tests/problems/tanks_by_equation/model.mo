model TanksByEquation "Two tanks, one hose, an equation that prefers the first one"
  Real a(start = 1, fixed = true), b(start = 1, fixed = true);
  Boolean first(start = true, fixed = true);
equation
  first = a < 0.5 or b >= 0.5 and pre(first);
  der(a) = (if first then 1.5 else 0) - 1;
  der(b) = (if first then 0 else 1.5) - 1;
end TanksByEquation;
