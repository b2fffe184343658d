model ThreeBallsMeet "Both contacts of three balls in a row close at one instant"
  Real x1(start = 0, fixed = true), x2(start = 1, fixed = true), x3(start = 2, fixed = true);
  Real v1(start = 3, fixed = true), v2(start = 0, fixed = true), v3(start = -1, fixed = true);
  Real f12, f23;
equation
  der(x1) = v1; der(x2) = v2; der(x3) = v3;
  der(v1) = -f12; der(v2) = f12 - f23; 2*der(v3) = f23;
  Saltus.complementarity(x2 - x1 - 0.25, f12);
  Saltus.complementarity(x3 - x2 - 0.75, f23);
end ThreeBallsMeet;
