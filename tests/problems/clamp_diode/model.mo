model ClampDiode "An ideal diode across a floating capacitor"
  Real v1, v2, u(start = -1, fixed = true), i, d, s;
equation
  u = v1 - v2;
  der(u) = i;
  5*sin(time) - v1 = i + d;
  v2 = 2*(i + d);
  v1 - v2 = if s < 0 then s else 0;
  d = if s < 0 then 0 else s;
end ClampDiode;
