model Contacts "independent masses above the ground, their starts given by initial equations"
  parameter Integer n = 12;
  Real y[n], v[n], N[n];
initial equation
  for i in 1:n loop
    y[i] = 1 + 0.1*i;
    v[i] = 0;
  end for;
equation
  for i in 1:n loop
    der(y[i]) = v[i];
    der(v[i]) = -9.81 + N[i] + 15*sin(3*time + i);
    0 = min(y[i], N[i]);
  end for;
end Contacts;
