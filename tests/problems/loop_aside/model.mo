model LoopAside "Equations that no derivative needs, with one solution for every x: guesses along the run are not their solutions"
  Real x(start = 0, fixed = true);
  Real y, z;
  Boolean b;
equation
  der(x) = 1;
  y + y^3 = x;
  z + 0.5*tanh(z) = x;
  b = y > 0.2;
end LoopAside;
