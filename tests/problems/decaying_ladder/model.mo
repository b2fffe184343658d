model DecayingLadder "A linear loop in which following the chain from one end amplifies errors by 10^25"
  parameter Integer n = 60;
  parameter Real g = 1;
  Real u[n], i[n + 1];
equation
  i[1] = (1 + time) - u[1];
  for j in 1:n - 1 loop
    i[j + 1] = u[j] - u[j + 1];
  end for;
  i[n + 1] = u[n];
  for j in 1:n loop
    i[j] - i[j + 1] = g*u[j];
  end for;
end DecayingLadder;
