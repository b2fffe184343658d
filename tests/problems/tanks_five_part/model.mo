model TanksFiveByEquation "Five tanks, one hose that gives less than they lose, an equation that prefers the first ones"
  Real x[5](start = {1.0, 1.37, 0.81, 0.53, 1.21}, each fixed = true);
  parameter Real v[5] = {1.0, 0.7, 1.3, 0.4, 0.9}, w = 4.0;
  Integer k(start = 1, fixed = true) "where the hose is";
equation
  k = if x[1] < 0 then 1
    elseif x[2] < 0 then 2
    elseif x[3] < 0 then 3
    elseif x[4] < 0 then 4
    elseif x[5] < 0 then 5
    else pre(k);
  for i in 1:5 loop
    der(x[i]) = (if k == i then w else 0) - v[i];
  end for;
end TanksFiveByEquation;
