model ConstantTwiceRefused "a parameter closes both switches: the equations that are too many are named"
  parameter Boolean both = true;
  Real v, i1, i2, x(start = 0, fixed = true);
equation
  der(x) = v;
  if both then v = 1; else i1 = 0; end if;
  if both then v = 2; else i2 = 0; end if;
  i1 + i2 = v;
end ConstantTwiceRefused;
