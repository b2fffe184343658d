model Stiction "a ramp of force breaks a body loose"
  Real v(start = 0, fixed = true), s(start = 0, fixed = true), f, u;
  Boolean slips(start = false, fixed = true);
equation
  u = 2*time;
  slips = u > 1.5 or pre(slips) and v > 1e-9;
  f = if slips then 1 else u;
  der(v) = u - f;
  der(s) = v;
end Stiction;
