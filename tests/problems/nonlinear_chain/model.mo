model NonlinearChain "Capacitors in a chain of cubic resistors, coupled through inner nodes: one large sparse loop"
  parameter Integer n = 100;
  Real v[n](start = {sin(3*k*pi/(n + 1)) for k in 1:n}, each fixed = true) "of the capacitors";
  Real u[n] "of the inner nodes";
  Real total = sum(v);
protected
  constant Real pi = 3.141592653589793;
  Real i[n] "into the inner nodes";
  Real w[n + 1] "along the chain";
equation
  for k in 1:n loop
    i[k] + i[k]^3 = v[k] - u[k];
    der(v[k]) = -i[k];
    i[k] + w[k] = w[k + 1];
  end for;
  w[1] = 0;
  w[n + 1] = 0;
  for k in 2:n loop
    w[k] + w[k]^3 = u[k - 1] - u[k];
  end for;
end NonlinearChain;
