model TouchNoEvent
  Real x(start=0,fixed=true), g; Integer n(start=0,fixed=true);
equation
  der(x)=1; g=(x-1)^2+1e-9;
  when g<0 then n=pre(n)+1; end when;
end TouchNoEvent;
