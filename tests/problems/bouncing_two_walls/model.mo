model BouncingTwoWalls
  Real x(start = 0.3, fixed = true), v(start = 1, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = 0;
  when {x > 1, x < 0} then
    reinit(v, -pre(v));
    n = pre(n) + 1;
  end when;
end BouncingTwoWalls;
