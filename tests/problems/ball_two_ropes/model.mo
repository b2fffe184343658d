model BallTwoRopes "A ball falls between two hooks; both ropes become taut at once and hold it"
  parameter Real g = 9.81;
  Real x(start = 0, fixed = true), y(start = 0.5, fixed = true), vx(start = 0, fixed = true), vy(start = 0, fixed = true);
  Real T1, T2;
equation
  der(x) = vx; der(y) = vy;
  der(vx) = T1*(x - (-1)) + T2*(x - 1);
  der(vy) = T1*y + T2*y - g;
  Saltus.complementarity(2 - (x + 1)^2 - y^2, -T1);
  Saltus.complementarity(2 - (x - 1)^2 - y^2, -T2);
end BallTwoRopes;
