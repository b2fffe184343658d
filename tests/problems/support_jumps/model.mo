model SupportJumps "What is slid on or rested on jumps away: the body falls, the relay drives"
  Real h(start = 1, fixed = true), v(start = 0, fixed = true), floor0;
  Real k(start = 1, fixed = true), w(start = 0, fixed = true) "kicked while at rest";
  Real x(start = 1, fixed = true), r;
equation
  floor0 = if time < 3 then 0 else -1;
  der(h) = v;
  der(v) = -9.81;
  when h < floor0 then
    reinit(v, -0.5*pre(v));
  end when;
  der(k) = w;
  der(w) = -10;
  when k < 0 then
    reinit(w, -0.5*pre(w));
  elsewhen time >= 3 then
    reinit(w, 2);
  end when;
  r = if time < 2 then 0 else 0.5;
  der(x) = if x > r then -1 else 1;
end SupportJumps;
