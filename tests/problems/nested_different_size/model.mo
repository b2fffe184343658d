model NestedDifferentSize
  Real x(start=1,fixed=true), y(start=2,fixed=true), f, g, z;
  Boolean a, b;
equation
  a = time >= 1; b = time >= 2;
  der(x) = f; der(y) = -g;
  if a then
    f = g;
    if b then x = y; z = 2*f + 7; else f = 1; z = 3; end if;
  else
    f = 0; g = 2; z = time;
  end if;
end NestedDifferentSize;
