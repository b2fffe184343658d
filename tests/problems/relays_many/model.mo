model RelaysMany "Twelve relays that act on each other: all surfaces meet at the start, up to twelve are slid on at once"
  constant Integer n = 12;
  parameter Real B[n, n] = {{if i == j then -4 else 0.5*cos(i*j) for j in 1:n} for i in 1:n};
  Real x[n](each start = 0, each fixed = true);
equation
  for i in 1:n loop
    der(x[i]) = 3.5*sin((0.5 + 0.1*i)*time + i) + sum(B[i, j]*(if x[j] > 0 then 1 else -1) for j in 1:n);
  end for;
end RelaysMany;
