model StickSlip
  Real v(start=2,fixed=true), x(start=0,fixed=true), f; Boolean stuck(start=false,fixed=true);
equation
  der(x)=v; der(v)=if stuck then 0 else f-1*sign(v);
  f=if time<3 then 0 else 2*(time-3);
  stuck = if pre(stuck) then abs(f)<=1 else v<=0 and abs(f)<=1;
  when stuck then reinit(v,0); end when;
end StickSlip;
