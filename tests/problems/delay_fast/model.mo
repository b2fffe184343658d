model DelayFast "What is delayed turns many times within one step of the states"
  Real x(start = 1, fixed = true);
  Real u = sin(100*time);
  Real y = delay(u, 0.5);
equation
  der(x) = -x;
end DelayFast;
