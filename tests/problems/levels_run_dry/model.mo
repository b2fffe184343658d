model LevelsRunDry "three tanks in cascade that run empty one after the other"
  Real a(start = 1, fixed = true), b(start = 0.5, fixed = true), c(start = 0.2, fixed = true);
equation
  der(a) = -sqrt(a);
  der(b) = sqrt(a) - sqrt(b);
  der(c) = sqrt(b) - sqrt(c);
end LevelsRunDry;
