model LongChain "500 shafts, 499 clutches: 1,000 equations, each instant many clutches at once"
  parameter Integer n = 500;
  Real w[n](start = {sin(i) for i in 1:n}, each fixed = true);
  Real tau[n + 1];
  Real h annotation(__Saltus_conserved = true);
  Boolean on[n - 1];
equation
  tau[1] = 0;
  tau[n + 1] = 0;
  for i in 1:n loop
    (1 + 0.1*i)*der(w[i]) = tau[i] - tau[i + 1];
  end for;
  for i in 1:n - 1 loop
    on[i] = time > 0.05*mod(7*i, 11) + 0.01 and time < 0.05*mod(5*i, 17) + 0.3;
    if on[i] then w[i] = w[i + 1]; else tau[i + 1] = 0; end if;
  end for;
  h = sum((1 + 0.1*i)*w[i] for i in 1:n);
end LongChain;
