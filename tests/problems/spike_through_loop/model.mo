model SpikeThroughLoop "The solution of an equation, alone or torn, rises above its threshold for a thousandth of a second"
  Real x(start = 0, fixed = true);
  Real y, u, v, w;
  Boolean b, c;
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
equation
  der(x) = 1;
  y + 0.1*y^3 = exp(-((x - 1.2345678)/1e-3)^2);
  u + 0.1*w = exp(-((x - 2.3456789)/1e-3)^2);
  w = u^3 + 0.01*v;
  v = tanh(w) + 0.1*u;
  b = y > 0.5;
  c = u > 0.5;
  when b then
    n = pre(n) + 1;
  end when;
  when c then
    m = pre(m) + 1;
  end when;
end SpikeThroughLoop;
