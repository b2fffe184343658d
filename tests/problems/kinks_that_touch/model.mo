model KinksThatTouch "Functions that touch zero in a kink, for one instant"
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true), k(start = 0, fixed = true);
equation
  der(x) = 1;
  when abs(x - 1.1) <= 0 then n = pre(n) + 1; end when;
  when min(abs(x - 1.3), abs(x - 2.7)) <= 0 then m = pre(m) + 1; end when;
  when 1 - abs(time - 0.7) >= 1 then k = pre(k) + 1; end when;
end KinksThatTouch;
