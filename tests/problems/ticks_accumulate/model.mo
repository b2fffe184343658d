model TicksAccumulate "Ticks that accumulate at t = 2 and only count"
  Integer n(start = 0, fixed = true);
  discrete Real next(start = 1, fixed = true);
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when time >= pre(next) then
    n = pre(n) + 1;
    next = pre(next) + 0.5^n;
  end when;
end TicksAccumulate;
