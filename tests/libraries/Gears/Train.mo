within Gears;
model Train "Two wheels"
  parameter Real teeth[2] = {10, 40};
  Real w(start = 8, fixed = true);
  Real out = w/ratio(teeth);
equation
  der(w) = -w;
end Train;
