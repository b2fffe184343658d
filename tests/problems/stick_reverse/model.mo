model StickReverse
  Real v(start=0,fixed=true), f;
equation
  f = 2*cos(time); der(v)=f-sign(v);
end StickReverse;
