model BranchKeptMoving "A pendulum whose pivot falls at constant speed: in the moving frame an ordinary pendulum"
  Real x(start = 0.6, fixed = true), y(start = 0.8), u(start = 0, fixed = true), v;
  Real p(start = 0, fixed = true), T;
  Real s(start = 0, fixed = true), r(start = 1), z(start = 0, fixed = true);
equation
  der(p) = -20;
  der(x) = u;
  der(y) = v;
  der(u) = -T*x;
  der(v) = -T*(y - p) - 1;
  x^2 + (y - p)^2 = 1;
  // The other solution is 2 away, and r moves by 20 in a second.
  der(s) = 20;
  der(z) = r - s;
  (r - s)^2 = 1 + 0.1*sin(time);
end BranchKeptMoving;
