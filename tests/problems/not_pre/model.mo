model NotPre
  Boolean b(start=false,fixed=true); Real x(start=0,fixed=true);
equation
  der(x)=1;
  b = if x>0.5 then not pre(b) else false;
end NotPre;
