model ReinitSeveral
  Real x(start=0,fixed=true), y(start=1,fixed=true), z(start=2,fixed=true);
equation
  der(x)=1; der(y)=0; der(z)=-1;
  when x>=1 then reinit(x,pre(y)-1); reinit(y,pre(z)); reinit(z,pre(x)); end when;
end ReinitSeveral;
