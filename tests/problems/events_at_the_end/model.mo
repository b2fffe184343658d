model EventsAtTheEnd "What becomes true exactly at the stop time is an event, before terminal()"
  Real x(start = 0, fixed = true), y(start = 1, fixed = true), s(start = 0, fixed = true), c(start = 1, fixed = true);
  Integer n(start = 0, fixed = true), k(start = 0, fixed = true), m(start = 0, fixed = true), q(start = 0, fixed = true);
  Integer ticks(start = 0, fixed = true), never(start = 0, fixed = true), v(start = 0, fixed = true);
  Boolean b = x >= 1;
equation
  der(x) = 1;
  der(y) = -y;
  der(s) = c;
  der(c) = -s;
  when b then n = pre(n) + 1; end when;
  when time >= 1 then k = pre(k) + 1; end when;
  when y <= exp(-1) then m = pre(m) + 1; end when;
  when s*s >= sin(1)^2 then v = pre(v) + 1; end when;
  when sample(0, 0.25) then ticks = pre(ticks) + 1; end when;
  when {x > 1.001, y <= 0.36, time > 1} then never = pre(never) + 1; end when;
  when terminal() then q = n + 10*k; end when;
end EventsAtTheEnd;
