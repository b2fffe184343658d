model SqrtGuard
  Real h(start=1,fixed=true);
equation
  der(h)= if h>0 then -sqrt(h) else 0;
end SqrtGuard;
