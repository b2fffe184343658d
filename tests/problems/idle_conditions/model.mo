model IdleConditions "Relations that do not matter until something else in their condition changes"
  Real x(start = 0, fixed = true), y(start = 1, fixed = true) "sin and cos";
  Real z(start = 0, fixed = true), w(start = 0, fixed = true);
  Boolean on, latched(start = false, fixed = true);
  Integer n(start = 0, fixed = true), k(start = 0, fixed = true);
  Boolean b, c;
equation
  der(x) = y;
  der(y) = -x;
  on = time >= 2 and time < 5;
  b = on and x*x > 0.25;
  when b then
    n = pre(n) + 1;
  end when;
  der(z) = if b then 1 else 0;
  // Nothing but y*y says how long, once x*y < -0.4 has latched.
  when x*y < -0.4 then
    latched = true;
  end when;
  c = pre(latched) and y*y > 0.25;
  when c then
    k = pre(k) + 1;
  end when;
  der(w) = if c then 1 else 0;
end IdleConditions;
