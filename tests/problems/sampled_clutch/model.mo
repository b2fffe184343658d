model SampledClutch
  Real w1(start=8,fixed=true), w2(start=0,fixed=true), tau;
  Boolean on(start=false,fixed=true);
equation
  der(w1) = 1 - tau; der(w2) = tau;
  when sample(1,1) then on = not pre(on); end when;
  if on then w1 = w2; else tau = 0; end if;
end SampledClutch;
