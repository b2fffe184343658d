model Coulomb
  Real x(start=1,fixed=true), v(start=0,fixed=true);
equation
  der(x)=v; der(v)=-x-0.1*sign(v);
end Coulomb;
