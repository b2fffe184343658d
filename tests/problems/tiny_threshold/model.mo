// A limiter that keeps a quotient finite: the least value is told from zero, also after a jump onto zero.
model TinyThreshold
  parameter Real least = 2.3e-16;
  Real u, y, q;
  discrete Real h(start = 0, fixed = true);
equation
  when {time >= 0.5, time >= 1.5} then
    h = if pre(h) > 0 then 0 else 3;
  end when;
  u = sqrt(h);
  y = smooth(0, if u > 1e60 then 1e60 else if u < least then least else u);
  q = u/y;
end TinyThreshold;
