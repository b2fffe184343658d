model CompoundStart
  Real h(start=1,fixed=true), v(start=0,fixed=true); Integer n(start=0,fixed=true);
equation
  der(h)=v; der(v)=-10;
  when h<=0 and v<0 then n=pre(n)+1; reinit(v,-0.8*pre(v)); end when;
end CompoundStart;
