model ModTime
  Real y(start=0,fixed=true), m;
equation
  m = mod(time,0.3); der(y)=m;
end ModTime;
