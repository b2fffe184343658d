model InitInsideBounds "Newton's method from the guesses leads out of the bounds; inside there is one solution"
  Real x(start = 0.1, min = 0, max = 1), y(start = 0.1, min = 0, max = 1);
  Real z(start = 0.1, min = 0);
equation
  x^2*(1 - y) = 0.3*(1 - x)^2;
  y^3 = 0.2*x;
  z^2 - z - 6 = 0;
end InitInsideBounds;
