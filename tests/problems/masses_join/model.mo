model MassesJoin "two masses meet and stay together"
  Real x1(start=0,fixed=true), v1(start=2,fixed=true), x2(start=3,fixed=true), v2(start=-1,fixed=true), F;
  Boolean j(start=false,fixed=true);
equation
  der(x1)=v1; der(x2)=v2; 1*der(v1)=F; 2*der(v2)=-F + 1;
  when x1 >= x2 then j = true; end when;
  if j then x1 = x2; else F = 0; end if;
end MassesJoin;
