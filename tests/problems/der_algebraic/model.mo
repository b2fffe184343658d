model DerAlgebraic
  Real x(start=0,fixed=true), y, dy; Integer n(start=0,fixed=true);
equation
  der(x)=cos(time); y = x^2; dy=der(y);
  when dy<0 then n=pre(n)+1; end when;
end DerAlgebraic;
