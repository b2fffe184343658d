model DelayStep
  Real u, y, z(start=0,fixed=true); Integer n(start=0,fixed=true);
equation
  u = if time<1 then 0 else 1; y=delay(u,0.5); der(z)=y;
  when y>0.5 then n=pre(n)+1; end when;
end DelayStep;
