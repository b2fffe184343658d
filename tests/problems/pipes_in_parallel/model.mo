model PipesInParallel
  "Ninety heated pipes behind one resistance: friction factors follow from flows far from their guesses"
  parameter Integer n = 90;
  Real m[n](each start = 0.02) "flows";
  Real T[n](each start = 20) "temperatures";
  Real Re[n];
  Real xi[n] "friction factors; below zero there is no sqrt(xi/8)";
  Real u[n];
  Real Nu[n];
equation
  for i in 1:n loop
    1000 - sum(m) = (1 + 0.1*i)*100*m[i] + 1e-3*T[i]*T[i]*(1 + time);
    Re[i] = 1e5*m[i];
    xi[i] = (1.82*log10(Re[i]) - 1.64)^(-2);
    u[i] = sqrt(xi[i]/8);
    Nu[i] = u[i]^2*Re[i]*0.7/(1 + 12.7*u[i]*(0.7^(2/3) - 1));
    m[i]*(T[i] - 20) = 0.01*Nu[i]*(100 - T[i]);
  end for;
end PipesInParallel;
