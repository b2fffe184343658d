model ValvesInSeries "Closed all at once, the valves leave the pressures between them open"
  parameter Integer n = 18;
  parameter Real k = 1e-3;
  Real p[n + 1], m[n], s[n];
  Real x(start = 1e5, fixed = true);
equation
  p[1] = 1e5 + 5e4*sin(time);
  p[n + 1] = x;
  for i in 1:n loop
    m[i] = if s[i] > 0 then s[i] else 0;
    p[i] - p[i + 1] = if s[i] > 0 then s[i]/k else s[i];
  end for;
  for i in 1:n - 1 loop
    m[i] = m[i + 1];
  end for;
  der(x) = 1e3*m[n] - 0.1*(x - 0.8e5);
end ValvesInSeries;
