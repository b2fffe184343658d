model SuperTwistingBranches "Branches with roots that have no value on the other side"
  Real x(start = 1, fixed = true);
  Real w(start = 0, fixed = true);
  Real d = 0.5*sin(time);
equation
  der(x) = (if x > 0 then -3*sqrt(x) else 3*sqrt(-x)) + w + d;
  der(w) = if x > 0 then -2 else 2;
end SuperTwistingBranches;
