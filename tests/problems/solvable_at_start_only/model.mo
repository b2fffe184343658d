model SolvableAtStartOnly "Both modes of the diode have v*i = 0, which the source is at the start only"
  Real i, v, s;
  Boolean off;
equation
  0 = time - v*i;
  off = s < 0;
  v = if off then s else 0;
  i = if off then 0 else s;
end SolvableAtStartOnly;
