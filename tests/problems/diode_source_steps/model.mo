model DiodeSourceSteps "as an if-equation and a diode in parametric form: up with an impulse, down without"
  Real vs, vc(start = 3, fixed = true), i, s;
  Boolean hi = time < 1 or time >= 2, off = s < 0;
equation
  if hi then vs = 3; else vs = 1; end if;
  der(vc) = i - vc/2;
  vs - vc = if off then s else 0;
  i = if off then 0 else s;
end DiodeSourceSteps;
