model InputGuard "an input chooses the index"
  input Boolean joined(start = true);
  Real w1(start = 2, fixed = true), w2, t;
equation
  der(w1) = -t - 1;
  der(w2) = t;
  if joined then w1 = w2; else t = 0; end if;
end InputGuard;
