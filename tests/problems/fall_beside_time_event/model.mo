model FallBesideTimeEvent "What is integrated exactly comes before or after a time event by 1e-7; what is not, at it as far as anybody can tell"
  parameter Real e = 1e-7;
  Real h(start = 10, fixed = true), v(start = 0, fixed = true), y(start = 1, fixed = true);
  Integer n(start = 0, fixed = true), k(start = 0, fixed = true), m(start = 0, fixed = true);
  discrete Real a(start = 0, fixed = true), b(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -2;
  der(y) = -y;
  // First one, then the other.
  when h <= 9 - e then
    n = pre(n) + 1;
  elsewhen time >= 1 then
    n = pre(n) + 10;
  end when;
  when h <= 10 - 1.4^2 + e then
    a = time;
  end when;
  when time >= 1.4 then
    b = if pre(a) > 0 then 1 else -1;
  end when;
  // One event each.
  when {h <= 6, time >= 2} then
    k = pre(k) + 1;
  end when;
  when {y <= exp(-1.5), time >= 1.5} then
    m = pre(m) + 1;
  end when;
end FallBesideTimeEvent;
