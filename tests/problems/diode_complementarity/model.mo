model DiodeComplementarity "peak detector: 0 <= i, -v >= 0, one of them zero"
  parameter Real C = 0.1, R = 20;
  Real vs, vc(start = 0, fixed = true), v, i;
equation
  vs = 5*sin(time - 1);
  v = vs - vc;
  C*der(vc) = i - vc/R;
  Saltus.complementarity(-v, i);
end DiodeComplementarity;
