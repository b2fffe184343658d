model DelayDde "x' = -x(t - 1), solved by the method of steps"
  Real x(start = 1, fixed = true);
equation
  der(x) = -delay(x, 1);
end DelayDde;
