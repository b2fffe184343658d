model TankRunsEmpty "the level stays at the edge of its root from t = 2 on"
  Real x(start = 1, fixed = true);
equation
  der(x) = -sqrt(x);
end TankRunsEmpty;
