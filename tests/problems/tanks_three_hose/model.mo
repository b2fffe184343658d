model TanksThreeHose "Three tanks and one hose: the order of switches is chaotic, their end is not"
  Real x[3](start = {1, 1.3, 1.7}, each fixed = true);
  Integer k(start = 1, fixed = true) "where the hose is";
  parameter Real w = 2.5;
equation
  for i in 1:3 loop
    der(x[i]) = (if k == i then w else 0) - 1;
  end for;
  when x[1] <= 0 then
    k = 1;
  elsewhen x[2] <= 0 then
    k = 2;
  elsewhen x[3] <= 0 then
    k = 3;
  end when;
end TanksThreeHose;
