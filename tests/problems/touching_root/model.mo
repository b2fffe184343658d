model TouchingRoot "a parabola that dips 1e-3 below zero within a long step, and one that only touches"
  Real x(start = 1 - 1e-3, fixed = true), y(start = 1, fixed = true);
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
equation
  der(x) = 2*(time - 1);
  der(y) = 2*(time - 1);
  when x < 0 then
    n = pre(n) + 1;
  end when;
  when y < -1e-3 then
    m = pre(m) + 1;
  end when;
end TouchingRoot;
