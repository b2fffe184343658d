model TanksBandClosesFive "Five tanks, one hose that gives what they lose, levels that are let go ever less far"
  Real x[5](start = {0.03, -0.05, 0.047, -0.02, -0.007}, each fixed = true);
  Real y[5](each start = 0, each fixed = true) "how long the hose was where";
  Real a = 0.1*max(0, 1 - time);
  parameter Real v[5] = {1.0, 0.7, 1.3, 0.4, 0.9}, w = sum(v);
  Integer k(start = 1, fixed = true) "where the hose is";
equation
  for i in 1:5 loop
    der(x[i]) = (if k == i then w else 0) - v[i];
    der(y[i]) = if k == i then 1 else 0;
  end for;
  when x[1] <= -a then
    k = 1;
  elsewhen x[2] <= -a then
    k = 2;
  elsewhen x[3] <= -a then
    k = 3;
  elsewhen x[4] <= -a then
    k = 4;
  elsewhen x[5] <= -a then
    k = 5;
  end when;
end TanksBandClosesFive;
