model CoupledRelays
  Real x(start=0,fixed=true), y(start=0,fixed=true); Boolean a(start=true,fixed=true), b(start=false,fixed=true);
equation
  der(x)=if a then 1 else -1; der(y)=if b then 1 else -1/2;
  when x>=1 then a=false; elsewhen x<=0 then a=true; end when;
  when not a then b=true; elsewhen a then b=false; end when;
end CoupledRelays;
