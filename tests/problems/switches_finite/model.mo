model SwitchesFinite "Switches that shrink by a ratio and then no more; a band that becomes narrow and wide again"
  Real x(start = 0, fixed = true), y(start = 0, fixed = true), z(start = 0, fixed = true);
  discrete Real b(start = 1, fixed = true);
  Boolean up(start = true, fixed = true), high(start = false, fixed = true);
  Integer n(start = 0, fixed = true);
  Real a = 1e-3 + 0.1*(time - 4)^2;
equation
  der(x) = if up then 1 else -1;
  der(y) = if up then 1 else 0;
  when x > pre(b) then
    up = false;
  elsewhen x < -pre(b) then
    up = true;
  end when;
  when {x > pre(b), x < -pre(b)} then
    b = max(0.6*pre(b), 2e-3);
    n = pre(n) + 1;
  end when;
  high = z > a or pre(high) and z > -a;
  der(z) = if high then -1 else 1;
end SwitchesFinite;
