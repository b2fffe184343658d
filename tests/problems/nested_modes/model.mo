model NestedModes "A branch inside a branch changes what is determined"
  Real x(start = 1, fixed = true);
  Real y;
  Boolean a = time > 1;
  Boolean b = time > 2;
equation
  if a then
    if b then
      x = 3;
      y = 1;
    else
      der(x) = -1;
      y = 2;
    end if;
  else
    der(x) = 1;
    y = x;
  end if;
end NestedModes;
