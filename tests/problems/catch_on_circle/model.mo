model Catch "falls freely, then slides on a circle from an event of time"
  Real x(start=1,fixed=true),y(start=0,fixed=true),vx(start=0,fixed=true),vy(start=0,fixed=true),lam; parameter Real g=10;
equation
  der(x)=vx; der(y)=vy; der(vx)=-lam*x; der(vy)=-lam*y-g;
  if time<0.3 then lam=0; else x^2+y^2=1; end if;
end Catch;
