model InductorBehindTwoResistors "a current source feeds two resistors side by side, then an inductor beside an ideal diode"
  parameter Real R1 = 1, R2 = 2;
  Real i(start = 0, fixed = true), v, s, d, r1, r2, J, w;
  Boolean off = s < 0;
equation
  J = 0.7*sin(1.5707963267948966*time);
  J = r1 + r2;
  r1 + r2 = i + d;
  R1*r1 = w - v;
  R2*r2 = w - v;
  der(i) = v;
  v = if off then s else 0;
  d = if off then 0 else s;
end InductorBehindTwoResistors;
