model FrictionStart
  Real v(start=0,fixed=true), x(start=0,fixed=true), f;
equation
  f = time; der(x)=v; der(v)=f-sign(v);
end FrictionStart;
