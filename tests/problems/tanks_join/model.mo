model TanksJoin "ideal pipe joins two tanks"
  Real h1(start=3,fixed=true), h2(start=0,fixed=true), q, V;
  Boolean open;
equation
  open = time >= 1 and time < 2;
  1*der(h1) = 0.1 - q; 2*der(h2) = q;
  if open then h1 = h2; else q = 0; end if;
  V = h1 + 2*h2;
end TanksJoin;
