model RepellingSurface "Slides along x = 0 while y > 0; for y < 0 both fields lead away from it, at unit speed"
  Real x(start = 0.3, fixed = true), y(start = 1, fixed = true), r = abs(x);
equation
  der(x) = if x*y > 0 then -1 else 1;
  der(y) = -1;
end RepellingSurface;
