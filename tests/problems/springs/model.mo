model Springs
  Real x(start=1,fixed=true), v(start=0,fixed=true);
equation
  der(x)=v; der(v)= if x>0 then -x else -4*x;
end Springs;
