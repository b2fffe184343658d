model AlgorithmWhen
  Real x(start=0,fixed=true); Integer n(start=0,fixed=true); discrete Real s(start=0,fixed=true);
equation
  der(x)=1;
algorithm
  when x>0.25 then n:=n+1; s:=s+n; elsewhen x>0.75 then n:=n+10; s:=s+n; end when;
  when n>5 then s:=s+100; end when;
end AlgorithmWhen;
