model MinimumInBranch "0 = min(a, b) inside an if-equation: a rope that is tied on the way"
  Real x(start = 0, fixed = true), v(start = 2, fixed = true), T;
  Boolean tied = time >= 0.5;
equation
  der(x) = v;
  der(v) = 1 - T - (if time >= 2 then 3 else 0);
  if tied then 0 = min(3 - x, T); else T = 0; end if;
end MinimumInBranch;
