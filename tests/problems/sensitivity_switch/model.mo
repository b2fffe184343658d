model SensitivitySwitch "A time event moved by a parameter, a state event after it, a discrete variable and a loop"
  parameter Real p = 0.7;
  parameter Real q = 0.5;
  Real x(start = 0, fixed = true);
  discrete Real m(start = 1, fixed = true);
  Real z(start = 0, fixed = true);
  Real u "found by iteration";
equation
  der(x) = if time < p then 1 else -2*x;
  when x < q and time > p then
    m = 3*x + p;
  end when;
  der(z) = m*x;
  u^3 + u = x + q;
end SensitivitySwitch;
