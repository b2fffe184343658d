model StaircaseLoop
  Real x(start=0), u; parameter Integer N=20;
equation
  u=10*time; 
  u = x + sum(if x>k/4 then 0.5*(x-k/4) else 0 for k in 1:N);
end StaircaseLoop;
