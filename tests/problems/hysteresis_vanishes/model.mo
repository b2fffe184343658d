model HysteresisVanishes "A band that shrinks without ever closing: more switches than can be followed"
  Real x(start = 0.03, fixed = true), y(start = 0, fixed = true) "time spent with up";
  Real a = 0.1*exp(-20*time);
  Boolean up(start = true, fixed = true);
equation
  up = x > a or pre(up) and x > -a;
  der(x) = if up then -1 else 2;
  der(y) = if up then 1 else 0;
end HysteresisVanishes;
