model MassOnTable
  parameter Real A=0.05, W=20;
  Real x(start=0,fixed=true), v, N, y;
  Boolean c(start=true,fixed=true);
equation
  y = A*sin(W*time);
  der(x)=v; der(v) = N - 9.81;
  when pre(c) and N < 0 then c = false; elsewhen not pre(c) and x < y then c = true; end when;
  if c then x = y; else N = 0; end if;
end MassOnTable;
