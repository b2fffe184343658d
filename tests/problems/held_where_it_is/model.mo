model HeldWhereItIs "Two masses are joined as they are at 0.2; at 0.4 the second one is held where it is"
  Real x(start=0,fixed=true),v(start=2,fixed=true),z(start=3,fixed=true),w(start=-1,fixed=true),F,G;
  Boolean j(start=false,fixed=true),h(start=false,fixed=true); discrete Real d(start=0,fixed=true),p(start=0,fixed=true);
equation
  der(x)=v; der(z)=w; der(v)=F; 2*der(w)=-F-G;
  when time>=0.2 then j=true; d=z-x; end when;
  if j then z-x=d; else F=0; end if;
  when time>=0.4 then h=true; p=z; end when;
  if h then z=p; else G=0; end if;
end HeldWhereItIs;
