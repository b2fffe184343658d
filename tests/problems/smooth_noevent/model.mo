model SmoothNoEvent
  Real x(start=0,fixed=true), y, z(start=0,fixed=true);
equation
  der(x)=1; y=noEvent(if x>0.5 then x-0.5 else 0); der(z)=y;
end SmoothNoEvent;
