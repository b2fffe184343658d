model ImpactAndAway "a mass hits a stop and is pushed away from it in the same instant"
  Real x(start = 1, fixed = true), v(start = -3, fixed = true), L;
equation
  der(x) = v;
  der(v) = 2 + L;
  Saltus.complementarity(x, L);
end ImpactAndAway;
