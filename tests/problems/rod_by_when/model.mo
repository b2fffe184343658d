model RodByWhen
  Real x1(start=0,fixed=true), v1(start=2,fixed=true), x2(start=3,fixed=true), v2(start=-1,fixed=true), F;
  Boolean j(start=false,fixed=true); discrete Real d(start=0,fixed=true);
equation
  der(x1)=v1; der(x2)=v2; 1*der(v1)=F; 2*der(v2)=-F;
  when time >= 0.5 then j = true; d = x2 - x1; end when;
  if j then x2 - x1 = d; else F = 0; end if;
end RodByWhen;
