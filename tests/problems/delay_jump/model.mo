model DelayJump "a jump arrives when a moving lag has caught up"
  Real u, y, z(start = 0, fixed = true), d(start = 0.5, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  u = if time < 1 then 0 else time;
  y = delay(u, d, 2);
  der(z) = y;
  der(d) = 0.1;
  when y > 0.5 then
    n = pre(n) + 1;
  end when;
end DelayJump;
