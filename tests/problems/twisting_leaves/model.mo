model TwistingLeaves "Relays hold x = v = 0 together up to a push of 4.5, written with if and with relations"
  Real x(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  Boolean slow = v <= 0;
  Real d = if time < 8 then 0.5*sin(3*time) else time - 8;
equation
  der(x) = v;
  der(v) = (if x > 0 then -3 else 3) + (if slow then 1.5 else -1.5) + d;
end TwistingLeaves;
