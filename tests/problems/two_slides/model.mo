model TwoSlides
  Real x(start=0.5,fixed=true), y(start=-0.3,fixed=true), z(start=0,fixed=true);
equation
  der(x)= if x>0 then -1 else 1; der(y)=0.5-(if y>0 then 1 else -1); der(z)=1-x^2-y^2;
end TwoSlides;
