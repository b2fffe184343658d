model SaturatedLoop
  Real e, u, y;
equation
  e = 2*sin(6.283185307179586*time) - y; u = 10*e; y = if u>1 then 1 elseif u<-1 then -1 else u;
end SaturatedLoop;
