model Cascade
  Real x(start=0,fixed=true); Boolean a(start=false,fixed=true),b(start=false,fixed=true),c(start=false,fixed=true); Integer n(start=0,fixed=true);
equation
  der(x)=1;
  when x>0.3 then a=true; end when;
  when a then b=true; end when;
  when b then c=true; end when;
  when c then n=pre(n)+1; reinit(x,-1); end when;
end Cascade;
