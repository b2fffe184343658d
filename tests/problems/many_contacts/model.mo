model ManyContacts "twenty bodies above the floor: each lands for itself"
  parameter Integer n = 20;
  Real x[n](start = {0.1*i for i in 1:n}, each fixed = true), v[n](each start = 0, each fixed = true), N[n];
equation
  der(x) = v;
  for i in 1:n loop
    der(v[i]) = N[i] - 10;
    Saltus.complementarity(x[i], N[i]);
  end for;
end ManyContacts;
