model Mutual
  Boolean a(start=false,fixed=true), b(start=false,fixed=true); Integer n(start=0,fixed=true);
equation
  a = time>0.5 and not pre(b); b = time>0.5 and not pre(a);
  when {a,b} then n=pre(n)+1; end when;
end Mutual;
