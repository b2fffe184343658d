model RelaysLeaveOne "Along one surface to another, along both, and away from the first, which a growing force tears off"
  Real x(start = 0.5, fixed = true), y(start = 1, fixed = true), z(start = 0, fixed = true);
  Real s = if x > 0 then 1 else -1, r = if y > 0 then 1 else -1;
equation
  der(x) = -2*s + r + time;
  der(y) = s - 3*r;
  der(z) = s + 2*r;
end RelaysLeaveOne;
