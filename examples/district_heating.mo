model DistrictHeating "Supply and return pipes with a consumer at every node: 7 n equations, one nonlinear block"
  parameter Integer n = 200;
  Real Ps[n](each start = 5e5) "supply pressure";
  Real Pr[n](each start = 2e5) "return pressure";
  Real ms[n](each start = 10);
  Real mr[n](each start = 10);
  Real mc[n](each start = 0.1) "through the consumer";
  Real dp[n];
  Real q[n] "heat";
equation
  6e5 - Ps[1] = 1e-2*ms[1]*(1 + ms[1]^2/1e4);
  Pr[1] - 2e5 = 1e-2*mr[1]*(1 + mr[1]^2/1e4);
  for i in 2:n loop
    Ps[i - 1] - Ps[i] = 1e-2*ms[i]*(1 + ms[i]^2/1e4);
    Pr[i] - Pr[i - 1] = 1e-2*mr[i]*(1 + mr[i]^2/1e4);
  end for;
  for i in 1:n loop
    dp[i] = Ps[i] - Pr[i];
    dp[i] = 1e7*mc[i]*(0.1 + mc[i]^2);
    q[i] = 4186*40*mc[i];
    ms[i] = mc[i] + (if i < n then ms[min(i + 1, n)] else 0);
    mr[i] = mc[i] + (if i < n then mr[min(i + 1, n)] else 0);
  end for;
end DistrictHeating;
