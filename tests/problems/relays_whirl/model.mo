model RelaysWhirl "Two relays drive each other: the solution winds into the origin, infinitely often around it by t = 3/4"
  Real x(start = 1, fixed = true), y(start = 0.5, fixed = true), z(start = 0, fixed = true);
  Real s = if x > 0 then 1 else -1, r = if y > 0 then 1 else -1;
equation
  der(x) = -s + 2*r;
  der(y) = -2*s - r;
  der(z) = s + 0.3 + 0.5*time;
end RelaysWhirl;
