model RelaysWhirlWeak "One of two relays drives its surface away, the other one holds both: a c > b d, turns shrink slowly"
  constant Real a = 0.6, b = 1.5, c = 2.5, d = 0.3;
  Real x(start = 0.7, fixed = true), y(start = -0.4, fixed = true), z(start = 0, fixed = true);
  Real s = if x > 0 then 1 else -1, r = if y > 0 then 1 else -1;
equation
  der(x) = -a*s + b*r;
  der(y) = -c*s + d*r;
  der(z) = s;
end RelaysWhirlWeak;
