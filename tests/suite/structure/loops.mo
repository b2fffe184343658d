Sorting and algebraic loops, with the examples of a lecture on continuous system simulation languages.

--- sorting-without-loops analyze ---
model M
  Real a, b, c, d, e;
equation
  a = b^2 + 3;
  b = sin(c*e);
  c = sqrt(d + 4.5);
  d = 3.14159/2;
  e = time;
end M;

--- expect ---
model M
before simplification: 5 equations, 5 continuous variables
after: 4 equations, 4 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (0):
blocks:
  1: c from c = sqrt(1.570795 + 4.5)
  2: e from e = time
  3: b from b = sin(c*e)
  4: a from a = b^2 + 3

--- nonlinear-loop analyze ---
model M
  Real a, b, c, d, e;
equation
  a = b^2 + 3;
  b = sin(c*e);
  c = sqrt(d + 4.5);
  d = 3.14159/2;
  e = a^2 + time;
end M;

--- expect ---
model M
before simplification: 5 equations, 5 continuous variables
after: 4 equations, 4 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (0):
blocks:
  1: c from c = sqrt(1.570795 + 4.5)
  2: 3 simultaneous equations for a, b, e
       a = b^2 + 3
       b = sin(c*e)
       e = a^2 + time

--- linear-loop-of-two analyze ---
model M
  Real x, y, z;
equation
  x = y + 16;
  y = -x - z;
  z = 5;
end M;

--- expect ---
model M
before simplification: 3 equations, 3 continuous variables
after: 2 equations, 2 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (0):
blocks:
  1: 2 simultaneous equations for x, y
       x = y + 16
       y = -x - 5

--- linear-loop-values simulate --stop 1 --intervals 1 ---
model M
  Real x, y, z;
equation
  x = y + 16;
  y = -x - z;
  z = 5*time;
end M;

--- expect ---
time,x,y,z
0.0,8.0,-8.0,0.0
1.0,5.5,-10.5,5.0

--- explain-a-variable analyze --explain y ---
model M
  Real x(start = 1, fixed = true), y, z;
equation
  der(x) = -y;
  y = 2*z;
  z = x + time;
end M;
--- expect ---
model M
before simplification: 3 equations, 3 continuous variables
after: 3 equations, 3 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (1): x
blocks:
  1: z from z = x + time
  2: y from y = 2*z
  3: der(x) from der(x) + y = 0
how y is computed:
  y from y = 2*z
  z from z = x + time
  x is a state

--- linear-loop-solved-symbolically analyze ---
model M
  parameter Real R1 = 1, R2 = 2;
  Real u1, u2, i;
equation
  u1 = R1*i;
  u2 = R2*i;
  u1 + u2 = sin(time);
end M;
--- expect ---
x

--- dependency-graph-of-the-lecture analyze ---
model M
  Real a, b, c, d, e;
equation
  a = d - c;
  b = c + a - 3;
  c = 6 + d*e;
  d = 2;
  e = 3*time;
end M;
--- expect ---
x

--- explain-a-loop analyze --explain i ---
model M
  Real i, u, v(start = 0, fixed = true);
equation
  der(v) = i;
  u = i + i^3;
  u + v = 1;
end M;
--- expect ---
x
