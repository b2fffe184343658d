model RopeComplementarity "rope: 0 <= L^2 - x^2 - y^2, -T >= 0, one of them zero"
  parameter Real L = 1, g = 9.81;
  Real x(start = 1, fixed = true), y(start = 0, fixed = true), vx(start = 0), vy(start = 4.5, fixed = true), T(start=-20);
equation
  der(x) = vx; der(y) = vy; der(vx) = T*x; der(vy) = T*y - g;
  Saltus.complementarity(L^2 - x^2 - y^2, -T);
end RopeComplementarity;
