model BeadOnEllipse "Index 3; every choice of states turns singular somewhere on the way round"
  parameter Real a = 2, b = 1, m = 0.3;
  Real x(start = 2), y(start = 0, fixed = true), vx(start = 0), vy(start = 1, fixed = true), F;
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F*x/a^2;
  m*der(vy) = -F*y/b^2;
  (x/a)^2 + (y/b)^2 = 1;
end BeadOnEllipse;
