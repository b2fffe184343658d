model ClutchSlipLock
  Real w1(start=10,fixed=true), w2(start=1,fixed=true), tau;
  Boolean locked(start=false,fixed=true);
equation
  1*der(w1) = -tau + 0.5;
  2*der(w2) = tau;
  when w1 <= w2 then locked = true; end when;
  if locked then w1 = w2; else tau = 3; end if;
end ClutchSlipLock;
