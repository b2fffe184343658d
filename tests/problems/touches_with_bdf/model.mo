model TouchesWithBdf "An oscillator touches its amplitude each half turn, as far as a method with growing errors can tell"
  Real x(start = 0, fixed = true), y(start = 1, fixed = true);
  Integer n(start = 0, fixed = true) "both sides", k(start = 0, fixed = true) "one side", none(start = 0, fixed = true);
equation
  der(x) = y;
  der(y) = -x;
  when x*x >= 1 then
    n = pre(n) + 1;
  end when;
  when x >= 1 then
    k = pre(k) + 1;
  end when;
  when {x*x >= 1 + 1e-2, x >= 1 + 1e-2} then
    none = pre(none) + 1;
  end when;
end TouchesWithBdf;
