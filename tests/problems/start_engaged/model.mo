model StartEngaged "Begins in the mode of higher index; an initial equation takes the place of a start value"
  Real w1(start = 4), w2(start = 0);
  Real tau1, tau2;
  Boolean e = time < 1;
initial equation
  2*w1 + w2 = 9;
equation
  2*der(w1) = tau1 + 1;
  der(w2) = tau2;
  if e then w1 = w2; tau1 + tau2 = 0; else tau1 = 0; tau2 = 0; end if;
end StartEngaged;
