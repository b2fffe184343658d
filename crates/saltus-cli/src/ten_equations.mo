model TenEquations "Two masses between three springs"
  parameter Real m = 1;
  parameter Real k = 10;
  parameter Real d = 0.1;
  Real x1(start = 1, fixed = true);
  Real v1(start = 0, fixed = true);
  Real x2(start = 0, fixed = true);
  Real v2(start = 0, fixed = true);
  Real f1;
  Real f2;
  Real f3;
  Real a1;
  Real a2;
  Real e;
equation
  der(x1) = v1;
  der(x2) = v2;
  der(v1) = a1;
  der(v2) = a2;
  m*a1 = f1 + f2;
  m*a2 = f3 - f2;
  f1 = -k*x1 - d*v1;
  f2 = k*(x2 - x1) + d*(v2 - v1);
  f3 = -k*x2 - d*v2;
  e = m/2*(v1^2 + v2^2) + k/2*(x1^2 + x2^2 + (x2 - x1)^2);
  annotation(experiment(StopTime = 1, Interval = 0.002));
end TenEquations;
