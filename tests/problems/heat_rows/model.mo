model HeatRows
  "A rod of 21 cells: T = sin(pi x) decays as exp(-k t), where k is the eigenvalue of the difference operator"
  constant Integer n = 21;
  constant Real pi = 3.14159265358979;
  Real T[n](start = {sin(pi*(i - 1)/(n - 1)) for i in 1:n});
equation
  T[1] = 0;
  for i in 2:n - 1 loop
    der(T[i]) = 100*(T[i - 1] - 2*T[i] + T[i + 1]);
  end for;
  T[n] = 0;
initial equation
  for i in 2:n - 1 loop
    T[i] = sin(pi*(i - 1)/(n - 1));
  end for;
end HeatRows;
