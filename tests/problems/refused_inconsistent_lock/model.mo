model RefusedInconsistentLock "locked mode is numerically inconsistent: x=1 and x=2 through y"
  Real x(start=0,fixed=true), y, z;
equation
  der(x) = 1;
  if time < 1 then y = x; z = 2*y; else y + z = 1; 2*y + 2*z = 3; end if;
end RefusedInconsistentLock;
