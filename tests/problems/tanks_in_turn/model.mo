model TanksInTurn "Three tanks whose levels are made equal pair by pair, with an inflow"
  Real h1(start = 3, fixed = true), h2(start = 1, fixed = true), h3(start = 0, fixed = true), q12, q23;
equation
  1*der(h1) = 0.1 - q12;
  2*der(h2) = q12 - q23;
  1*der(h3) = q23;
  if time >= 1 and time < 3 then h1 = h2; else q12 = 0.1*(h1 - h2); end if;
  if time >= 2 and time < 4 then h2 = h3; else q23 = 0; end if;
end TanksInTurn;
