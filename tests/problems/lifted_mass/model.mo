model LiftedMass "A mass on the floor is lifted by a rope whose upper end moves up at speed 1"
  Real x(start = 0, fixed = true), v(start = 0, fixed = true), N, T, h;
equation
  h = time - 1;
  der(x) = v;
  2*der(v) = -20 + N + T;
  0 = min(x, N);
  0 = min(x - h + 0.5, T);
end LiftedMass;
