model RopeSlack
  parameter Real L=1; parameter Real g=9.81;
  Real x(start=1,fixed=true), y(start=0,fixed=true), vx(start=0), vy(start=4.5,fixed=true), T;
  Boolean taut(start=true,fixed=true);
equation
  der(x)=vx; der(y)=vy; der(vx)=T*x; der(vy)=T*y-g;
  when not pre(taut) and x^2+y^2>=L^2 then taut = true;
  elsewhen pre(taut) and T > 0 then taut = false; end when;
  if taut then x^2+y^2=L^2; else T = 0; end if;
end RopeSlack;
