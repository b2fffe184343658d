model OrEdges
  Real t2; Boolean a,b; Integer n(start=0,fixed=true), v(start=0,fixed=true);
equation
  t2=time; a = t2>0.3 and t2<0.7; b = t2>0.5;
  when a or b then n=pre(n)+1; end when;
  when {a,b} then v=pre(v)+1; end when;
end OrEdges;
