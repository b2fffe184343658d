model SumsHiddenByTime "only the difference of the first two equations shows that c is no state"
  Real a, b, c, i, j;
equation
  a - b = sin(time);
  c = a - b;
  i = der(c);
  i + j = 0;
  b - i - j = 0;
end SumsHiddenByTime;
