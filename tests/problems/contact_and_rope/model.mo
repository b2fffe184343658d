model ContactAndRope "Impacts of a contact and of a rope follow each other in turn, infinitely many in finite time"
  parameter Real l = 1;
  Real x1(start = 0, fixed = true), x2(start = 0.5, fixed = true), x3(start = 1, fixed = true);
  Real v1(start = 2, fixed = true), v2(start = 0, fixed = true), v3(start = 0, fixed = true);
  Real N, T;
equation
  der(x1) = v1; der(x2) = v2; der(x3) = v3;
  der(v1) = 3 - N;
  der(v2) = N + T;
  der(v3) = 3 - T;
  0 = min(x2 - x1, N);
  0 = min(l - (x3 - x2), T);
end ContactAndRope;
