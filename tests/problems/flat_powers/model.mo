model FlatPowers "Odd powers change their sign where they are flat"
  Real x(start = -1, fixed = true);
  discrete Real three(start = 0, fixed = true), five(start = 0, fixed = true), seven(start = 0, fixed = true);
  discrete Real nine(start = 0, fixed = true);
equation
  der(x) = 1;
  when (time - 1)^3 >= 0 then
    three = time;
  end when;
  when (time - 1)^5 >= 0 then
    five = time;
  end when;
  when (time - 1)^7 > 0 then
    seven = time;
  end when;
  when x^9 > 0 then
    nine = time;
  end when;
end FlatPowers;
