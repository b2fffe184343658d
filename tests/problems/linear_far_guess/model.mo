// A linear loop whose guesses are far off: the solution must not keep their rounding.
model LinearFarGuess
  parameter Integer n = 12;
  Real x[n](each start = 1e13);
  Real d = x[1] - x[2];
equation
  for i in 1:n loop
    x[i] + sum({x[j]/(i + j) for j in 1:n}) = i + time;
  end for;
end LinearFarGuess;
