model DelayReadBack "A lag that grows faster than time, and one that jumps, carry reading back over a jump"
  Real u = if time < 1 then 0 else 5;
  Real y = delay(u, 0.5 + 0.4*sin(8*time), 1);
  Real w = delay(u, if time < 1.5 then 0.2 else 0.9, 1);
  Real z(start = 0, fixed = true), v(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(z) = y;
  der(v) = w;
  when {w < 2, w > 3} then
    n = pre(n) + 1;
  end when;
end DelayReadBack;
