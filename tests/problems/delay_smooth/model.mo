model DelaySmooth
  Real x(start = 0, fixed = true), y;
equation
  der(x) = cos(time);
  y = delay(x, 0.3);
end DelaySmooth;
