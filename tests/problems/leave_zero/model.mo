model LeaveZero
  Real x(start=0,fixed=true); Integer n(start=0,fixed=true);
equation
  der(x)=if time<1 then 0 else 1;
  when x>0 then n=pre(n)+1; end when;
end LeaveZero;
