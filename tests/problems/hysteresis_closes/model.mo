model HysteresisCloses "A band that closes, a load that later tears the solution off it"
  Real x(start = 0.03, fixed = true), y(start = 0, fixed = true) "time spent with up";
  Real a = 0.1*max(0, 1 - time);
  Real u = 3*max(0, time - 1.5);
  Boolean up(start = true, fixed = true);
equation
  up = x > a or pre(up) and x > -a;
  der(x) = (if up then -1 else 2) + u;
  der(y) = if up then 1 else 0;
end HysteresisCloses;
