model Valve "two tanks, ideal valve opens at 1 (levels equal at once) and closes at 2"
  Real h1(start=2,fixed=true),h2(start=0,fixed=true),q; Boolean open;
equation
  open = time>=1 and time<2;
  1*der(h1)=-q+0.1; 3*der(h2)=q;
  if open then h1=h2; else q=0; end if;
end Valve;
