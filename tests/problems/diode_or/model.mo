model DiodeOr
  Real v1, v2, vc(start=0,fixed=true), i1, i2, s1, s2;
  Boolean o1, o2;
equation
  v1 = 5*sin(time); v2 = 5*sin(time - 2);
  0.1*der(vc) = i1 + i2 - vc/20;
  o1 = s1 < 0; v1 - vc = if o1 then s1 else 0; i1 = if o1 then 0 else s1;
  o2 = s2 < 0; v2 - vc = if o2 then s2 else 0; i2 = if o2 then 0 else s2;
end DiodeOr;
