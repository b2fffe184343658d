model DelayFeedback "Delay equations by the method of steps; signals that bend much between two steps"
  Real x(start = 1, fixed = true);
  Real quick, late "sin(100 t), one second late";
  Real square "t^2 by a delay that varies";
equation
  der(x) = -delay(x, 1);
  quick = sin(100*time);
  late = delay(quick, 1);
  square = delay(time^2, 0.5 + 0.2*sin(time), 1);
end DelayFeedback;
