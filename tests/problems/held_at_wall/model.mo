// A block with friction comes to rest at a wall. A pull below its friction does not part them, nor does it come through the wall when
// it is pushed again; a stronger pull does.
model HeldAtWall
  Real x(start = 0, fixed = true);
  Real v(start = 1, fixed = true);
  Real p = if time < 4 then 1 elseif time < 5 then -0.3 elseif time < 6 then 0.9 else -0.8;
equation
  der(x) = v;
  der(v) = p - (if v > 0 then 0.5 else -0.5);
  when x > 0.4 then
    reinit(v, -0.3*pre(v));
  end when;
end HeldAtWall;
