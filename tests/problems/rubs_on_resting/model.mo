// A block is pressed against a wall and has come to rest there; another one rubs on it, stops by that friction and by the ground's,
// and is pulled off again later. What holds the first one does not move by what rubs on it.
model RubsOnResting
  Real x(start = 0.1, fixed = true);
  Real v(start = 0, fixed = true);
  Real s(start = 0, fixed = true);
  Real u(start = 1, fixed = true);
  Real rub = if u - v > 0 then 0.3 else -0.3;
  Real ground = if u > 0 then 0.1 else -0.1;
equation
  der(x) = v;
  der(v) = -1 + rub;
  der(s) = u;
  der(u) = (if time < 5 then 0 elseif time < 6 then 0.39 else 0.6) - rub - ground;
  when x < 0 then
    reinit(v, -0.2*pre(v));
  end when;
end RubsOnResting;
