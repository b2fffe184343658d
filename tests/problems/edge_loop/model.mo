model EdgeLoop
  Boolean a(start=false,fixed=true), b(start=false,fixed=true), c(start=false,fixed=true); Integer ne(start=0,fixed=true), nc(start=0,fixed=true);
equation
  a = sin(2*3.141592653589793*time) > 0.5;
  b = pre(a);
  c = pre(b);
  when edge(c) then ne=pre(ne)+1; end when;
  when change(c) then nc=pre(nc)+1; end when;
end EdgeLoop;
