model RestStirred "A ball at rest is pushed down, its table moves on at once, drops, and takes no notice of a reset to what it has"
  Real u, y, h(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  u = if time < 6 then 0 elseif time < 9 then -2 else 1;
  y = if time < 6 then 0 elseif time < 9 then -2*(time - 6) else -6 + (time - 9);
  der(h) = v; der(v) = -10;
  when h <= y then reinit(v, u - 0.5*(pre(v) - u)); end when;
  when time >= 3 then reinit(v, pre(v)); end when;
  when time >= 4 then reinit(v, -3); end when;
end RestStirred;
