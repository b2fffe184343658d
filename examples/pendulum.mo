model Pendulum "A pendulum in Cartesian coordinates: the rod is a constraint, the index is 3"
  parameter Real m(unit = "kg") = 1 "mass";
  parameter Real L(unit = "m") = 1 "length of the rod";
  parameter Real g(unit = "m/s2") = 9.81 "acceleration of gravity";
  Real x(unit = "m", start = 1) "horizontal position";
  Real y(unit = "m", start = 0, fixed = true) "vertical position";
  Real vx(unit = "m/s");
  Real vy(unit = "m/s", start = 0, fixed = true);
  Real F(unit = "N/m") "force in the rod per length of it";
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F*x;
  m*der(vy) = -F*y - m*g;
  x^2 + y^2 = L^2;
  annotation(experiment(StopTime = 10, Interval = 0.02, Tolerance = 1e-8));
end Pendulum;
