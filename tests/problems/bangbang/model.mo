model BangBang
  Real x(start=1,fixed=true), v(start=0,fixed=true); Real u;
equation
  der(x)=v; der(v)=u;
  u = if x+v*abs(v)/2 > 0 then -1 else 1;
end BangBang;
