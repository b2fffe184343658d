model RootsPassZero "levels pass each other where the roots of both branches end: y > z must switch before z - y is 1e-7"
  Real x(start=1,fixed=true); Real y(start=0.2,fixed=true); Real z(start=0.9,fixed=true);
equation
  der(x) = -(if x > y then sqrt(x-y) else -sqrt(y-x));
  der(y) = (if x > y then sqrt(x-y) else -sqrt(y-x)) - 2*(if y > z then sqrt(y-z) else -sqrt(z-y));
  der(z) = 2*(if y > z then sqrt(y-z) else -sqrt(z-y)) - 0.3*sqrt(z) + 0.2*sin(time);
end RootsPassZero;
