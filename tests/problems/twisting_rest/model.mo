model TwistingRest "Turns of twisting control shrink to nothing at 3.6427 s; from then on x = v = 0"
  Real x(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -3*sign(x) - 1.5*sign(v);
end TwistingRest;
