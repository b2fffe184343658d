model PreferredCoordinate "round the circle with one coordinate asked for as a state: near y = 0 it cannot be"
  Real x(start = 1, stateSelect = StateSelect.prefer), y(start = 0);
equation
  x*der(y) - y*der(x) = 1;
  x^2 + y^2 = 1;
initial equation
  y = 0;
end PreferredCoordinate;
