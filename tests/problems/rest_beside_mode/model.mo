model RestBesideMode "A ball at rest stays so while the mode of other equations changes, and is lifted by one of its own"
  Real h(start = 1, fixed = true), v(start = 0, fixed = true), F;
  Real w1(start = 1, fixed = true), w2(start = 0, fixed = true), tau;
  Boolean on = time > 4 and time < 6;
  Boolean lifted = time > 7 and time < 8;
equation
  der(h) = v; der(v) = -9.81 + F;
  when h <= 0 then reinit(v, -0.7*pre(v)); end when;
  if lifted then v = 1; else F = 0; end if;
  der(w1) = -tau; der(w2) = tau;
  if on then w1 = w2; else tau = 0; end if;
end RestBesideMode;
