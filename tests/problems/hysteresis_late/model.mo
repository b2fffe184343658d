model HysteresisLate "A relay far from time zero, where neighbouring instants are 2e-9 apart: x rises from 0.25 to 1, falls to 0 in 4/3, rises in 4/11"
  Real x(start = 0.25, fixed = true);
  Boolean m(start = true, fixed = true);
equation
  der(x) = if m then 2.75 else -0.75;
  m = if pre(m) then x < 1 else x <= 0;
end HysteresisLate;
