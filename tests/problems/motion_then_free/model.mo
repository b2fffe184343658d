model Motion
  Real x(start=0,fixed=true),v(start=0,fixed=true),F;
equation
  der(x)=v; 2*der(v)=F;
  if time<1 then F=2; elseif time<2 then x=sin(time); else F=0; end if;
end Motion;
