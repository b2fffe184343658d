model DelayVarying "the lag moves"
  Real x(start = 0, fixed = true), y, d;
equation
  der(x) = cos(time);
  d = 0.5 + 0.2*sin(time);
  y = delay(x, d, 1);
end DelayVarying;
