model Many "20 shafts, 19 clutches that open and close at incommensurate rates: hardly a mode comes twice"
  parameter Integer n = 20;
  Real w[n](start = {sin(i) for i in 1:n}, each fixed = true);
  Real tau[n + 1];
  Real h;
  Boolean on[n - 1];
equation
  tau[1] = sin(time);
  tau[n + 1] = 0.1*w[n];
  for i in 1:n loop
    (1 + 0.1*i)*der(w[i]) = tau[i] - tau[i + 1];
  end for;
  for i in 1:n - 1 loop
    on[i] = sin(sqrt(i + 1.0)*time + i) > 0 and time > 0.01;
    if on[i] then w[i] = w[i + 1]; else tau[i + 1] = 0.01*(w[i] - w[i + 1]); end if;
  end for;
  h = sum((1 + 0.1*i)*w[i] for i in 1:n);
end Many;
