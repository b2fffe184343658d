model Inactive
  Real x(start=1,fixed=true), f, extra;
equation
  der(x) = f;
  if time < 1 then f = 1; else f = extra; extra = 2*x; end if;
end Inactive;
