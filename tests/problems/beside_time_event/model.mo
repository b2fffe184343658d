model BesideTimeEvent "States integrated exactly cross shortly before and after a time event: three events in their order"
  Real x(start = 0, fixed = true);
  Real a(start = 0, fixed = true), b(start = 0, fixed = true), c(start = 0, fixed = true);
  Real d(start = 0, fixed = true) "which of two branches came first";
  Integer n(start = 0, fixed = true);
  Real y(start = 0, fixed = true);
equation
  der(x) = 1;
  der(a) = 0;
  der(b) = 0;
  der(c) = 0;
  when x >= 1 - 1e-6 then
    reinit(a, 1);
  end when;
  when time >= 1 then
    reinit(b, if a > 0.5 then 1 else -1);
  end when;
  when x >= 1 + 1e-6 then
    reinit(c, if b > 0.5 then 1 else -1);
  end when;
  // Within one event only the first branch is taken.
  when x >= 2 + 1e-7 then
    n = pre(n) + 1;
  elsewhen time >= 2 then
    n = pre(n) + 10;
  end when;
  der(y) = n;
  der(d) = if b > 0.5 and c > 0.5 then 1 else 0;
end BesideTimeEvent;
