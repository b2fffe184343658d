model RelaysProduct "Fields of the sides that do not add up: shares mix all four corners"
  Real x(start = 0.4, fixed = true), y(start = 0.3, fixed = true), z(start = 0, fixed = true);
  Real s = if x > 0 then 1 else -1, r = if y > 0 then 1 else -1;
equation
  der(x) = -s + 0.5*s*r + 0.3;
  der(y) = -r + 0.2;
  der(z) = s + r;
end RelaysProduct;
