model AvoidedCoordinates "round the circle: neither coordinate wants to be a state, each has to be in turn"
  Real x(start = 1, stateSelect = StateSelect.avoid), y(start = 0, stateSelect = StateSelect.avoid);
equation
  x*der(y) - y*der(x) = 1;
  x^2 + y^2 = 1;
initial equation
  y = 0;
end AvoidedCoordinates;
