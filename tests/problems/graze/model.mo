model Graze
  Real x(start=1,fixed=true),v(start=0,fixed=true); Integer n(start=0,fixed=true);
equation
  der(x)=v; der(v)=-x; 
  when x<=-0.9999 then n=pre(n)+1; end when;
end Graze;
