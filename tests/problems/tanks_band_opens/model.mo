model TanksBandOpens "Three tanks, one hose that gives what they lose, levels that are let go less far and then further again"
  Real x[3](start = {0.03, -0.05, 0.02}, each fixed = true);
  Real y[3](each start = 0, each fixed = true) "how long the hose was where";
  Real a = 0.1*abs(1 - time);
  parameter Real v[3] = {1.0, 0.7, 1.3}, w = sum(v);
  Integer k(start = 1, fixed = true) "where the hose is";
equation
  for i in 1:3 loop
    der(x[i]) = (if k == i then w else 0) - v[i];
    der(y[i]) = if k == i then 1 else 0;
  end for;
  when x[1] <= -a then
    k = 1;
  elsewhen x[2] <= -a then
    k = 2;
  elsewhen x[3] <= -a then
    k = 3;
  end when;
  assert(min(x) > -a - 1e-5, "a tank is not served");
end TanksBandOpens;
