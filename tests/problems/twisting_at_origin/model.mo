model TwistingAtOrigin "starts where x = 0 and v = 0 hold the solution, against a push; another one starts below what errors tell"
  Real x(start = 0, fixed = true);
  Real v(start = 0, fixed = true);
  Real y(start = 0, fixed = true);
  Real w(start = 1e-9, fixed = true);
  Real d = 0.4*cos(3*time + 0.5);
equation
  der(x) = v;
  der(v) = -3*sign(x) - sign(v) + d;
  der(y) = w;
  der(w) = -7*(if y > 0 then 1 else -1) - 4*sign(w) + 2*sin(5*time);
end TwistingAtOrigin;
