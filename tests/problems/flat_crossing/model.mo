model FlatCrossing "The function crosses zero with a slope of zero"
  Real x(start = 0.3, fixed = true);
  discrete Real at(start = 0, fixed = true);
equation
  der(x) = -1;
  when x^3 <= 0 then
    at = time;
  end when;
end FlatCrossing;
