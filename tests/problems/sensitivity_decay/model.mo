model SensitivityDecay "Sensitivities to a rate, an inflow and a start value, also of what follows from the state"
  parameter Real k = 3;
  parameter Real b = 1.5;
  parameter Real x0 = 2;
  parameter Real c = 2*k "depends on a parameter";
  Real x(start = x0, fixed = true);
  Real y = c*x^2;
equation
  der(x) = b - k*x;
end SensitivityDecay;
