model StiffEdges "Flows of stiff cells cross the edges of a laminar range: events are those of the solution, not of what swings in a step"
  parameter Integer n = 6;
  parameter Real m0 = 0.05, k = 200, C = 1e-4;
  Real P[n](each start = 0, each fixed = true);
  Real m[n + 1], loss[n + 1];
  Integer count(start = 0, fixed = true);
equation
  loss[1] = 2e3*(1 - exp(-time)) - P[1];
  for i in 2:n loop
    loss[i] = P[i - 1] - P[i];
  end for;
  loss[n + 1] = P[n] - 2e3*(1 - exp(-time)) + 30*sin(5*time);
  for i in 1:n + 1 loop
    loss[i] = if m[i] > m0 then k*m[i]^2 elseif m[i] < -m0 then -k*m[i]^2 else k*m0*m[i];
  end for;
  for i in 1:n loop
    C*der(P[i]) = m[i] - m[i + 1];
  end for;
  when m[4] > m0 then
    count = pre(count) + 1;
  end when;
end StiffEdges;
