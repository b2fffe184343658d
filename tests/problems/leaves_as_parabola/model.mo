model LeavesAsParabola "x rests at zero and leaves it as a parabola: it becomes positive once"
  Real x(start = 0, fixed = true), v(start = 0, fixed = true), y(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = if time < 0.5 then 0 else 2;
  der(y) = if x > 0 then 1 else 0;
  when x > 0 then
    n = pre(n) + 1;
  end when;
end LeavesAsParabola;
