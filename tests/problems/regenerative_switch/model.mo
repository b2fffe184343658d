model RegenerativeSwitch "Relaxation oscillator: an amplifier without lag, fed back positively, charges a capacitor"
  parameter Real gain = 1e4;
  parameter Real limit = 5;
  parameter Real beta = 0.4 "share of the output fed back";
  Real c(start = -2.2, fixed = true);
  Real u = gain*(beta*v - c);
  Real v(start = 5);
equation
  v = if u > limit then limit elseif u < -limit then -limit else u;
  der(c) = v - c;
  annotation(experiment(StopTime = 4));
end RegenerativeSwitch;
