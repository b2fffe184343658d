model TicksAtLargeTimes "Some thousand events a thousandth apart, each ten thousand times the rounding of time from the last"
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
equation
  when sample(1e9, 0.001) then
    n = pre(n) + 1;
  end when;
  der(x) = 1;
  when x > 0.001 then
    reinit(x, 0);
    m = pre(m) + 1;
  end when;
end TicksAtLargeTimes;
