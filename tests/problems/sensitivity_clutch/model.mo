model SensitivityClutch "Two shafts join when the driven one is fast enough: the equations change, parameters move the instant"
  parameter Real J1 = 2;
  parameter Real J2 = 3;
  parameter Real tau = 4;
  Real w1(start = 10, fixed = true);
  Real w2(start = 0, fixed = true);
  Real f "torque of the clutch";
  Boolean closed(start = false, fixed = true);
equation
  J1*der(w1) = tau - f;
  J2*der(w2) = f;
  closed = w1 >= 12 or pre(closed);
  if closed then
    w1 = w2;
  else
    f = 0;
  end if;
end SensitivityClutch;
