model PendulumCut
  Real x(start=1,fixed=true), y(start=0,fixed=true), vx(start=0), vy(start=0,fixed=true), T;
equation
  der(x)=vx; der(y)=vy;
  der(vx)=T*x; der(vy)=T*y-9.81;
  if time < 0.5 then x^2+y^2=1; else T=0; end if;
end PendulumCut;
