model TicksDecide "Ticks that accumulate at t = 2 and turn the motion round"
  Integer n(start = 0, fixed = true);
  Boolean q(start = false, fixed = true);
  discrete Real next(start = 1, fixed = true);
  Real x(start = 0, fixed = true);
equation
  der(x) = if q then 1 else -1;
  when time >= pre(next) then
    n = pre(n) + 1;
    q = not pre(q);
    next = pre(next) + 0.5^n;
  end when;
end TicksDecide;
