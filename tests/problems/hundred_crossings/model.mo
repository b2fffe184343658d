model HundredCrossings
  parameter Integer N=100; Real x(start=0,fixed=true); Integer n[N](each start=0,each fixed=true); Integer total;
equation
  der(x)=1;
  for i in 1:N loop when x>i/N*0.999 then n[i]=pre(n[i])+1; end when; end for;
  total=sum(n);
end HundredCrossings;
