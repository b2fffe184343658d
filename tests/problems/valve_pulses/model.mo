model ValvePulses "A valve that opens for short whiles: nothing moves in between, and max makes no event"
  Real m(start = 0, fixed = true), p;
equation
  p = 1 + 0.5*sin(2*time);
  der(m) = max(0, p - 1.45);
end ValvePulses;
