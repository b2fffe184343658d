model DivRem
  Real x(start=-2.5,fixed=true); Integer d; Real r, c, f;
equation
  der(x)=1; d=div(integer(x),2); r=rem(x,2); c=ceil(x); f=floor(x);
end DivRem;
