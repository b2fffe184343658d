model TankOverflow
  Real h(start=0.9,fixed=true), q; parameter Real H=1;
equation
  q = if h>=H then 0.2 else 0;
  der(h)=if time<2 then 0.2-q else -0.1-q;
end TankOverflow;
