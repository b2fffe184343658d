model TanksThreeByEquation "Three tanks, one hose that gives less than they lose, an equation that prefers the first ones"
  Real x[3](start = {1.0, 1.37, 0.81}, each fixed = true);
  parameter Real v[3] = {1.0, 0.7, 1.3}, w = 2.6;
  Integer k(start = 1, fixed = true) "where the hose is";
equation
  k = if x[1] < 0 then 1
    elseif x[2] < 0 then 2
    elseif x[3] < 0 then 3
    else pre(k);
  for i in 1:3 loop
    der(x[i]) = (if k == i then w else 0) - v[i];
  end for;
end TanksThreeByEquation;
