model TwoAtOnce
  Real x(start=0,fixed=true), y(start=1,fixed=true); Integer n(start=0,fixed=true), m(start=0,fixed=true), both(start=0,fixed=true);
equation
  der(x)=1; der(y)=-1;
  when x>0.5 then n=pre(n)+1; end when;
  when y<0.5 then m=pre(m)+1; end when;
  when {x>0.5,y<0.5} then both=pre(both)+1; end when;
end TwoAtOnce;
