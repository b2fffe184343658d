model ProjectedAtSamples "a constraint that holds at the ticks of a sample alone"
  Real x(start = 1, fixed = true), y(start = 0, fixed = true), f;
  Boolean s = sample(1, 1);
equation
  der(x) = 1;
  der(y) = f - y;
  if s then y = x^2; else f = 0; end if;
end ProjectedAtSamples;
