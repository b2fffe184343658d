model Deriv "algebraic in one mode, differential of second order in the other"
  Real x(start=0),y;
equation
  if time<1 then x=sin(time); y=der(x); else der(x)=y; der(y)=-4*x; end if;
end Deriv;
