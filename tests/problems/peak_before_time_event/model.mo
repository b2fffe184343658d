model PeakBeforeTimeEvent "A threshold just below the peak of a triangle; a step ends just before it"
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
  Boolean high = x >= 500 - 1e-4;
  Boolean seen(start = false, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = if time < 1 then 500 else -500;
  der(y) = if high then 1 else 0;
  when high then
    n = pre(n) + 1;
  end when;
  when time >= 1 then
    seen = pre(high);
  end when;
end PeakBeforeTimeEvent;
