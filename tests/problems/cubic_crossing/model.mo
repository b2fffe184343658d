model CubicCrossing
  Real x(start=-1,fixed=true), g; Integer n(start=0,fixed=true);
equation
  der(x)=1; g=x^3;
  when g>0 then n=pre(n)+1; end when;
end CubicCrossing;
