model MaxThree
  Real x(start=0,fixed=true), y(start=0,fixed=true);
equation
  der(x)=1; der(y)=max(max(1-x,x-1),0.25);
end MaxThree;
