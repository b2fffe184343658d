model CubicResistorChain "A nonlinear loop of 79 unknowns that tearing makes small"
  parameter Integer N = 40;
  parameter Real R = 2, k = 0.5;
  Real u[N + 1], i[N];
equation
  u[1] = 10 + 40*time;
  u[N + 1] = 0;
  for j in 1:N loop
    u[j] - u[j + 1] = R*i[j] + k*i[j]^3;
  end for;
  for j in 2:N loop
    i[j] = i[j - 1];
  end for;
end CubicResistorChain;
