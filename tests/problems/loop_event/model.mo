model LoopEvent
  Real x(start=0,fixed=true), y(start=0); Integer n(start=0,fixed=true);
equation
  der(x)=1; y+y^3=x;
  when y>0.5 then n=pre(n)+1; end when;
end LoopEvent;
