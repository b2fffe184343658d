model Clutch "An engine drives a load through a clutch that opens and closes: the number of states changes with the mode"
  parameter Real J1(unit = "kg.m2") = 0.2 "inertia of the engine";
  parameter Real J2(unit = "kg.m2") = 1 "inertia of the load";
  parameter Real drive(unit = "N.m") = 20 "torque of the engine";
  parameter Real d1(unit = "N.m.s/rad") = 0.1 "friction of the engine";
  parameter Real d2(unit = "N.m.s/rad") = 0.3 "friction of the load";
  Real w1(unit = "rad/s", start = 80, fixed = true) "speed of the engine";
  Real w2(unit = "rad/s", start = 0, fixed = true) "speed of the load";
  Real tau1(unit = "N.m") "torque of the clutch on the engine";
  Real tau2(unit = "N.m") "torque of the clutch on the load";
  Boolean engaged "the clutch is closed";
equation
  engaged = time >= 1 and time < 4 or time >= 6;
  J1*der(w1) = drive - d1*w1 + tau1;
  J2*der(w2) = -d2*w2 + tau2;
  if engaged then
    // One speed is left; at the instant of closing the torques have an impulse that conserves J1*w1 + J2*w2.
    w1 = w2;
    tau1 + tau2 = 0;
  else
    tau1 = 0;
    tau2 = 0;
  end if;
  annotation(experiment(StopTime = 8, Interval = 0.01, Tolerance = 1e-8));
end Clutch;
