model LagTurns "The rate of a fast lag behind a triangle turns with it, though its values are far below what errors of the lag move it by"
  parameter Real T = 1e-8;
  Real x(start = 0, fixed = true), q(start = 0, fixed = true), u;
  Boolean asc;
equation
  u = if time < 1 then 500*time elseif time < 3 then 1000 - 500*time else -2000 + 500*time;
  der(x) = (u - x)/T;
  asc = der(x) > 0;
  der(q) = if asc then 1 else 0;
end LagTurns;
