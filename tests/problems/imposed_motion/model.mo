model ImposedMotion "free, then made to follow sin, then free with the speed it has"
  Real x(start=0,fixed=true), v(start=1,fixed=true), F;
  Boolean g;
equation
  g = time >= 1 and time < 2;
  der(x) = v; 2*der(v) = F;
  if g then x = sin(3*time); else F = 0; end if;
end ImposedMotion;
