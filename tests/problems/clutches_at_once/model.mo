model ClutchesAtOnce "Three shafts and two clutches that close at the same instant, a viscous coupling across both"
  parameter Real J[3] = {1, 2, 3};
  Real w[3](start = {12, 0, 2}, each fixed = true);
  Real t12, t23, t13;
  Boolean c12 = time >= 1;
  Boolean c23 = time >= 1;
equation
  J[1]*der(w[1]) = -t12 - t13;
  J[2]*der(w[2]) = t12 - t23;
  J[3]*der(w[3]) = t23 + t13;
  t13 = 0.1*(w[1] - w[3]);
  if c12 then w[1] = w[2]; else t12 = 0; end if;
  if c23 then w[2] = w[3]; else t23 = 0; end if;
end ClutchesAtOnce;
