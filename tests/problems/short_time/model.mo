model ShortTime
  Real x(start=0,fixed=true); Integer n(start=0,fixed=true);
equation
  der(x)=1e9; 
  when x>=1 then n=pre(n)+1; reinit(x,0); end when;
end ShortTime;
