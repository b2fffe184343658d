model InductorCut
  Real i(start=0,fixed=true), v, e;
  Boolean open;
equation
  open = time >= 1;
  e = 10;
  0.5*der(i) = e - 2*i - v;
  if open then i = 0; else v = 0; end if;
end InductorCut;
