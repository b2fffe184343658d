model RestAgain "A body comes to rest, its support jumps away, it comes to rest on the new one; another hardly rebounds"
  Real h(start = 1, fixed = true), v(start = 0, fixed = true), table;
  Real k(start = 1, fixed = true), w(start = 0, fixed = true);
equation
  table = if time > 5 then -1 else 0;
  der(h) = v;
  der(v) = -9.81;
  when h < table then
    reinit(v, -0.5*pre(v));
  end when;
  der(k) = w;
  der(w) = -9.81;
  when k < 0 then
    reinit(w, -0.001*pre(w));
  end when;
end RestAgain;
