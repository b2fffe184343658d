model EventAtStop
  Real x(start=0,fixed=true); Integer n(start=0,fixed=true), k(start=0,fixed=true);
equation
  der(x)=1;
  when x>=1 then n=pre(n)+1; end when;
  when time>=1 then k=pre(k)+1; end when;
end EventAtStop;
