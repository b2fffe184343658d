model CapacitorsThreeAtOnce "Three capacitors and a load are joined at one instant"
  Real v1(start=1,fixed=true), v2(start=2,fixed=true), v3(start=3,fixed=true), i1,i2,i3, ir;
  Boolean s = time >= 1;
equation
  1*der(v1) = i1; 2*der(v2) = i2; 3*der(v3) = i3;
  if s then v1 = v2; v2 = v3; i1 + i2 + i3 = ir; else i1 = 0; i2 = 0; i3 = 0; end if;
  ir = if s then -v1 else 0;
end CapacitorsThreeAtOnce;
