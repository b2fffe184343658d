model DiodeInductor
  Real i, v, s, vs; Boolean off;
equation
  vs = 10*sin(time);
  1*der(i) = vs - v - i;
  off = s < 0;
  v = if off then s else 0;
  i = if off then 0 else s;
end DiodeInductor;
