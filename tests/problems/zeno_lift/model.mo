model ZenoLift
  Real h(start=1,fixed=true), v(start=0,fixed=true); Real a;
equation
  der(h)=v; der(v)=a; a=if time<8 then -10 else 5;
  when h<=0 then reinit(v,-0.5*pre(v)); end when;
end ZenoLift;
