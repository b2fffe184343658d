model ReinitAndLock
  Real w1(start=2,fixed=true), w2(start=0,fixed=true), tau;
  Boolean on(start=false,fixed=true);
equation
  der(w1) = -tau; der(w2) = tau;
  when time >= 1 then on = true; reinit(w1, 10); end when;
  if on then w1 = w2; else tau = 0; end if;
end ReinitAndLock;
