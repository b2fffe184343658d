model DistributionJump "a jump travels at a speed that changes, and sets off an event where it leaves"
  Real x(start = 0, fixed = true), a, b, u, z(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  u = if time < 1 then 1 else 3;
  der(x) = 1 + 0.5*sin(time);
  (a, b) = spatialDistribution(u, 0, x, true);
  der(z) = b;
  when b > 2 then
    n = pre(n) + 1;
  end when;
end DistributionJump;
