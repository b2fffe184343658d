model NestedStructure
  Real x(start=1,fixed=true), y(start=2,fixed=true), f;
  Boolean a, b;
equation
  a = time >= 1; b = time >= 2;
  der(x) = f; der(y) = -f;
  if a then
    if b then x = y; else f = 1; end if;
  else
    f = 0;
  end if;
end NestedStructure;
