model Hybrid2 "index 1 to 3 and back, several times"
  Real x(start=0,fixed=true),v(start=1,fixed=true),F; Boolean hold;
equation
  hold = mod(floor(time),2)>=1;
  der(x)=v; der(v)=F-v;
  if hold then x=time^2/2; else F=0; end if;
end Hybrid2;
