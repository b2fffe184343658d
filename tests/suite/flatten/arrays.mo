Arrays, loops, comprehensions and slices become scalars.

--- for-equations flatten ---
model M
  parameter Integer n = 3;
  Real x[n];
equation
  x[1] = time;
  for i in 2:n loop
    x[i] = x[i - 1] + i;
  end for;
end M;

--- expect ---
model M
  parameter Integer n = 3;
  Real x[1];
  Real x[2];
  Real x[3];
equation
  x[1] = time;
  x[2] = x[1] + 2;
  x[3] = x[2] + 3;
end M;

--- nested-for flatten ---
model M
  Real a[2, 2];
equation
  for i in 1:2, j in 1:2 loop
    a[i, j] = i*10 + j + time;
  end for;
end M;

--- expect ---
model M
  Real a[1,1];
  Real a[1,2];
  Real a[2,1];
  Real a[2,2];
equation
  a[1,1] = 11 + time;
  a[1,2] = 12 + time;
  a[2,1] = 21 + time;
  a[2,2] = 22 + time;
end M;

--- slices-and-end flatten ---
model M
  Real v[4] = {time, 2, 3, 4};
  Real w[2] = v[3:end];
  Real s = sum(v[1:2:end]);
  Real last = v[end];
end M;

--- expect ---
model M
  Real v[1];
  Real v[2];
  Real v[3];
  Real v[4];
  Real w[1];
  Real w[2];
  Real s;
  Real last;
equation
  v[1] = time;
  v[2] = 2;
  v[3] = 3;
  v[4] = 4;
  w[1] = v[3];
  w[2] = v[4];
  s = v[1] + v[3];
  last = v[4];
end M;

--- comprehension-and-reductions flatten ---
model M
  parameter Real c[3] = {i^2 for i in 1:3};
  parameter Real s = sum(i*c[i] for i in 1:3);
  parameter Real p = product(c);
  parameter Real m = max(c) - min({c[1], 2.0});
  Real x = s*time;
end M;

--- expect ---
model M
  parameter Real c[1] = 1;
  parameter Real c[2] = 4;
  parameter Real c[3] = 9;
  parameter Real s = c[1] + 2*c[2] + 3*c[3];
  parameter Real p = c[1]*c[2]*c[3];
  parameter Real m = max(max(c[1], c[2]), c[3]) - min(c[1], 2);
  Real x;
equation
  x = s*time;
end M;

--- matrix-times-vector flatten ---
model M
  parameter Real A[2, 2] = [0, 1; -2, -3];
  Real x[2](start = {1, 0}, each fixed = true);
equation
  der(x) = A*x;
end M;

--- expect ---
model M
  parameter Real A[1,1] = 0;
  parameter Real A[1,2] = 1;
  parameter Real A[2,1] = -2;
  parameter Real A[2,2] = -3;
  Real x[1](start = 1, fixed = true);
  Real x[2](start = 0, fixed = true);
equation
  der(x[1]) = A[1,1]*x[1] + A[1,2]*x[2];
  der(x[2]) = A[2,1]*x[1] + A[2,2]*x[2];
end M;

--- constructors flatten ---
model M
  parameter Real z[2] = zeros(2);
  parameter Real f[2] = fill(3, 2);
  parameter Real l[3] = linspace(0, 1, 3);
  parameter Real I[2, 2] = identity(2);
  parameter Real t[2, 2] = transpose([1, 2; 3, 4]);
  parameter Real c[3] = cross({1, 0, 0}, {0, 1, 0});
  parameter Real k[4] = cat(1, {1, 2}, {3, 4});
  parameter Integer n = size(t, 1)*ndims(t);
end M;

--- expect ---
model M
  parameter Real z[1] = 0;
  parameter Real z[2] = 0;
  parameter Real f[1] = 3;
  parameter Real f[2] = 3;
  parameter Real l[1] = 0;
  parameter Real l[2] = 0.5;
  parameter Real l[3] = 1;
  parameter Real I[1,1] = 1;
  parameter Real I[1,2] = 0;
  parameter Real I[2,1] = 0;
  parameter Real I[2,2] = 1;
  parameter Real t[1,1] = 1;
  parameter Real t[1,2] = 3;
  parameter Real t[2,1] = 2;
  parameter Real t[2,2] = 4;
  parameter Real c[1] = 0;
  parameter Real c[2] = 0;
  parameter Real c[3] = 1;
  parameter Real k[1] = 1;
  parameter Real k[2] = 2;
  parameter Real k[3] = 3;
  parameter Real k[4] = 4;
  parameter Integer n = 4;
equation
end M;

--- size-from-the-binding flatten ---
model M
  parameter Real v[:] = {1, 2, 3};
  parameter Integer n = size(v, 1);
  Real x[n] = v*time;
end M;

--- expect ---
model M
  parameter Real v[1] = 1;
  parameter Real v[2] = 2;
  parameter Real v[3] = 3;
  parameter Integer n = 3;
  Real x[1];
  Real x[2];
  Real x[3];
equation
  x[1] = v[1]*time;
  x[2] = v[2]*time;
  x[3] = v[3]*time;
end M;

--- array-of-components flatten ---
model Cell
  parameter Real tau = 1;
  Real x(start = 1, fixed = true);
equation
  tau*der(x) = -x;
end Cell;
model M
  Cell cell[2](tau = {1, 2});
  Real total = sum(cell.x);
end M;

--- expect ---
model M
  parameter Real cell[1].tau = 1;
  Real cell[1].x(start = 1, fixed = true);
  parameter Real cell[2].tau = 2;
  Real cell[2].x(start = 1, fixed = true);
  Real total;
equation
  total = cell[1].x + cell[2].x;
  cell[1].tau*der(cell[1].x) + cell[1].x = 0;
  cell[2].tau*der(cell[2].x) + cell[2].x = 0;
end M;

--- zero-length flatten ---
model M
  parameter Integer n = 0;
  Real x[n];
  Real s = sum(x) + time;
equation
  for i in 1:n loop
    x[i] = i;
  end for;
end M;

--- expect ---
model M
  parameter Integer n = 0;
  Real s;
equation
  s = time;
end M;

--- dimension-mismatch error check ---
model M
  Real x[2] = {1, 2, 3};
end M;

--- expect ---
exit: 3
error: x has the shape [2], but the value has the shape [3]
--> model.mo:2:15

--- index-out-of-bounds error check ---
model M
  Real x[2] = {1, 2};
  Real y = x[3];
end M;
--- expect ---
exit: 3
error: the index 3 is outside 1:2
--> model.mo:3:14
