model GuardedDomain "Roots of negative numbers behind a condition, and in a branch that is not taken"
  Real x(start = 1, fixed = true);
  Boolean late = time > 0.5 and sqrt(time - 0.5) > 0.1;
  Real y = if x > 0.5 then (if sqrt(x - 0.5) > 0.3 then 1 else 2) else 3;
  Integer n(start = 0, fixed = true);
equation
  der(x) = -x;
  when late then
    n = pre(n) + 1;
  end when;
end GuardedDomain;
