model StartInMode
  Real w1(start=8,fixed=true), w2(start=0), tau;
  Boolean on;
equation
  on = time < 1;
  der(w1) = 1 - tau; der(w2) = tau;
  if on then w1 = w2; else tau = 0; end if;
end StartInMode;
