model CapacitorTriangle "Loop of three capacitors fed by a current: three voltages, the constraint gives the currents"
  parameter Real C1 = 1, C2 = 2, C3 = 3;
  Real v1(start = 0, fixed = true), v2(start = 0), v3(start = 0, fixed = true), i1, i2, i3;
equation
  C1*der(v1) = i1;
  C2*der(v2) = i2;
  C3*der(v3) = i3;
  v1 = v2 + v3;
  i2 = i3;
  i1 + i2 = 0.6;
end CapacitorTriangle;
