model DistributionProfile "a profile leaves, then what came in behind it"
  Real x(start = 0, fixed = true), a, b, w(start = 0, fixed = true);
equation
  der(x) = 2;
  (a, b) = spatialDistribution(sin(time), 0, x, true, {0, 0.5, 1}, {0, 1, 0});
  der(w) = b;
end DistributionProfile;
