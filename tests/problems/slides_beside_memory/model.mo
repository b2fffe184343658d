model SlidesBesideMemory "A condition that reads what another event remembers: the surface is slid on until that event, then left"
  Real x(start = 1, fixed = true), z(start = 0, fixed = true);
  Boolean b(start = false, fixed = true);
equation
  b = z > 1.5;
  der(z) = 1;
  der(x) = if x >= 0.5 or pre(b) then -1 else 1;
end SlidesBesideMemory;
