model CrossingBeforeTick "A function of time crosses a moment before a time event at which it turns: an event of its own, before it"
  parameter Real dt = 1e-7;
  Real y;
  Integer a(start = 0, fixed = true);
  discrete Real tc(start = 0, fixed = true);
  Boolean late;
equation
  y = if time >= 8 then 48*(time - 8) - 24 else 24 - 48*(time - 7);
  late = time >= 8;
  when y < -24 + 48*dt then
    a = if late then 1 else 2;
    tc = time;
  end when;
end CrossingBeforeTick;
