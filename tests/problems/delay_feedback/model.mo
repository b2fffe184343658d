model DelayFeedback "Delay equations by the method of steps"
  Real x(start = 1, fixed = true);
  Real square "t^2 by a delay that varies";
equation
  der(x) = -delay(x, 1);
  square = delay(time^2, 0.5 + 0.2*sin(time), 1);
end DelayFeedback;
