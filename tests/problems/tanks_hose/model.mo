model TanksHose "Two tanks filled in turn by one hose that gives less than they lose"
  Real x1(start = 1, fixed = true), x2(start = 2, fixed = true);
  Boolean q(start = true, fixed = true) "the hose is in the first one";
  parameter Real w = 1.5, v1 = 1, v2 = 1, r1 = 0, r2 = 0;
equation
  der(x1) = (if q then w else 0) - v1;
  der(x2) = (if q then 0 else w) - v2;
  when x1 <= r1 then
    q = true;
  elsewhen x2 <= r2 then
    q = false;
  end when;
end TanksHose;
