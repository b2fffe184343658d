model CoilsJoined "Opening a switch puts two coils in series: one current instead of two"
  parameter Real L1 = 1, L2 = 3, R = 2;
  Real i1(start = 4, fixed = true), i2(start = 0, fixed = true), vx, k;
  Boolean closed = time < 1;
equation
  L1*der(i1) = 10 - R*i1 - vx;
  L2*der(i2) = vx - R*i2;
  i1 = i2 + k;
  if closed then vx = 0; else k = 0; end if;
end CoilsJoined;
