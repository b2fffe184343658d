model StartTrue
  Real x(start=1,fixed=true); Integer n(start=0,fixed=true), m(start=0,fixed=true);
equation
  der(x)=-1;
  when x>=1 then n=pre(n)+1; end when;
  when x<1 then m=pre(m)+1; end when;
end StartTrue;
