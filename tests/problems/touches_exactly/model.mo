model TouchesExactly "What touches zero in the solution comes close to it within the errors of all steps so far"
  Real h(start = 1, fixed = true), y(start = 1, fixed = true);
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
equation
  der(h) = 2*(time - 1);
  der(y) = 2*(time - 1);
  when h <= 0 then n = pre(n) + 1; end when;
  when y <= -0.01 then m = pre(m) + 1; end when;
end TouchesExactly;
