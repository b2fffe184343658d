model LeaveZeroSlowly
  Real x(start=0,fixed=true); Integer n(start=0,fixed=true);
equation
  der(x)=if time<1 then 0 else 3*(time-1)^2;
  when x>0 then n=pre(n)+1; end when;
end LeaveZeroSlowly;
