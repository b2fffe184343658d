model ValveThreeTanks
  Real h1(start=4,fixed=true), h2(start=1,fixed=true), h3(start=1,fixed=true), q12, q23;
  Boolean a, b;
equation
  a = time >= 1; b = h1 < 3;
  der(h1) = -q12; der(h2) = q12 - q23; der(h3) = q23;
  if a then h1 = h2; else q12 = 0; end if;
  if b then h2 = h3; else q23 = 0; end if;
end ValveThreeTanks;
