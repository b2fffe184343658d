model NearTimeEvent
  Real x(start=0,fixed=true); Integer a(start=0,fixed=true), b(start=0,fixed=true), order(start=0,fixed=true);
equation
  der(x)=1;
  when x>0.5+1e-9 then a=pre(a)+1; order=pre(b); end when;
  when time>=0.5 then b=pre(b)+1; end when;
end NearTimeEvent;
