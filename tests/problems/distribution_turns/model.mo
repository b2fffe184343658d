model DistributionTurns "the flow turns: what went in comes out again"
  Real x(start = 0, fixed = true), v, a, b, z(start = 0, fixed = true);
equation
  v = if time < 0.4 then 1 else -1;
  der(x) = v;
  (a, b) = spatialDistribution(5 + time, 7, x, v >= 0, {0, 1}, {1, 2});
  der(z) = a;
end DistributionTurns;
