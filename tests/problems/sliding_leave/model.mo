model SlidingLeave
  Real x(start=0.5,fixed=true); Real u;
equation
  u = if x>0 then -1 else 1;
  der(x) = u + (if time<2 then 0 else time-2);
end SlidingLeave;
