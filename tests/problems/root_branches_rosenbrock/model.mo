model RootBranches "both branches have an infinite slope at zero; y meets the edge of its root"
  Real x(start = 1, fixed = true);
  Real y(start = 1, fixed = true);
equation
  der(x) = -1 - (if x > 0 then sqrt(x) else -sqrt(-x));
  der(y) = -sqrt(y);
end RootBranches;
