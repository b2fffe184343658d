// A slider-crank as a closed loop of constraints in Cartesian coordinates, without gravity: every choice of states turns
// singular once in a revolution. The answer is a quadrature over the angle of the crank.
model CrankCartesian
  Real x(start = 1, fixed = true), y(start = 0), vx, vy(start = 2, fixed = true);
  Real s(start = 4), v;
  Real F, R;
  Real energy = (vx^2 + vy^2)/2 + v^2;
equation
  der(x) = vx;
  der(y) = vy;
  der(s) = v;
  der(vx) = -F*x - R*(x - s);
  der(vy) = -F*y - R*y;
  2*der(v) = -R*(s - x);
  x^2 + y^2 = 1;
  (s - x)^2 + y^2 = 9;
end CrankCartesian;
