model EntrySingularRefused "a constraint without a real solution: what is singular is named"
  Real x(start = 0, fixed = true), v(start = 0, fixed = true), F;
  Boolean on = time >= 1;
equation
  der(x) = v;
  der(v) = F;
  if on then x^2 = -1; else F = 0; end if;
end EntrySingularRefused;
