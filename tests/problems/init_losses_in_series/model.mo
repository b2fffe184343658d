model InitLossesInSeries "Losses in series between two pressures, two of them at huge areas; the flow has no guess, and at zero nothing shows the way"
  parameter Real A[3] = {1e119, 1, 1e119};
  parameter Real c[3] = {2, 5, 3};
  parameter Real left = 1e5;
  Real right = 1.1e5 + 1e4*time;
  Real p1(start = 5e6);
  Real p2(start = 5e6);
  Real m;
  Real F[3];
  Real dp[3];
equation
  F[1] = A[1]*(p1 - left);
  F[2] = A[2]*(p2 - p1);
  F[3] = A[3]*(right - p2);
  for i in 1:3 loop
    F[i] = A[i]*dp[i];
    dp[i] = c[i]*m^2*(if m > 0 then 1e-3 else -1e-3);
  end for;
end InitLossesInSeries;
