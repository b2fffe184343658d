model GearClutch
  parameter Real J1=2,J2=3; Real w1(start=10,fixed=true),w2(start=1,fixed=true),t1,t2; Boolean on;
equation
  on = time>1; J1*der(w1)=t1; J2*der(w2)=t2;
  if on then w1=3*w2; t2+3*t1=0; else t1=0; t2=0; end if;
end GearClutch;
