model VanishingMinimum "0 = min(a, b) says 0 <= a, 0 <= b, and one of them is zero"
  Real x(start = 1, fixed = true), f "held at zero while pushed against it";
  Real a, b "two conditions in one loop";
equation
  der(x) = -2 + time + f;
  0 = min(x, f);
  min(a, a + 0.5*b - 1 + 0.2*time) = 0;
  0 = min(b, b + 0.5*a - 2 + time);
end VanishingMinimum;
