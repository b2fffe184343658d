model AssertTime
  Real x(start=0,fixed=true);
equation
  der(x)=1;
  assert(x<0.5,"x too large");
end AssertTime;
