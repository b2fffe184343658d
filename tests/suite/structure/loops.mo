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
after: 3 equations, 3 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (0):
blocks:
  1: e from e = time
  2: b from b = sin(2.463898333941561*e)
  3: a from a = b^2 + 3

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
after: 3 equations, 3 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (0):
blocks:
  1: 3 simultaneous equations for a, b, e
     nonlinear; torn: a
       a = b^2 + 3
       b = sin(2.463898333941561*e)
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
     linear, solved symbolically; torn: x
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
  y from y = 2*z (model.mo:5:3)
  z from z = x + time (model.mo:6:3)
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
model M
before simplification: 3 equations, 3 continuous variables
after: 3 equations, 3 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (0):
blocks:
  1: 3 simultaneous equations for i, u2, u1
     linear, solved symbolically; torn: i
       u1 = R1*i
       u2 = R2*i
       u1 + u2 = sin(time)

--- dependency-graph-of-the-lecture analyze --keep-all-variables ---
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
model M
before simplification: 5 equations, 5 continuous variables
after: 5 equations, 5 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (0):
blocks:
  1: d from d = 2
  2: e from e = 3*time
  3: c from c = 6 + d*e
  4: a from a = d - c
  5: b from b = c + a - 3

--- explain-a-loop analyze --explain i ---
model M
  Real i, u, v(start = 0, fixed = true);
equation
  der(v) = i;
  u = i + i^3;
  u + v = 1;
end M;
--- expect ---
model M
before simplification: 3 equations, 3 continuous variables
after: 3 equations, 3 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (1): v
blocks:
  1: u from u + v = 1
  2: i from u = i + i^3
  3: der(v) from der(v) = i
how i is computed:
  i from u = i + i^3 (model.mo:5:3)
  u from u + v = 1 (model.mo:6:3)
  v is a state

--- thin-functions-are-inlined-around-heavy-ones analyze ---
record State
  Real p, d;
end State;
function density
  input Real p;
  output Real d;
algorithm
  d := 0;
  for i in 1:2 loop
    for j in 1:2 loop
      for k in 1:2 loop
        d := d + sin(i*p) + cos(j*p) + exp(-k*p^2)/(1 + i*j*k);
      end for;
    end for;
  end for;
end density;
function state
  input Real p;
  output State s;
algorithm
  s := State(p = p, d = density(p));
end state;
model M
  State s;
  Real p;
equation
  p = 2 + time;
  s = state(p);
end M;
--- expect ---
model M
before simplification: 3 equations, 3 continuous variables
after: 2 equations, 2 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (0):
blocks:
  1: s.p from s.p = 2 + time
  2: s.d from s.d = density(s.p)

--- torn-where-the-modeller-says analyze ---
// Without the annotation the loop is torn by i, the only unknown in three equations.
model Torn
  parameter Real R1 = 1, R2 = 2;
  Real u1 annotation(__Saltus_tear = true);
  Real u2, i annotation(__Saltus_tear = false);
equation
  u1 = R1*i;
  u2 = R2*i^3;
  u1 + u2 = 10 + time;
end Torn;
--- expect ---
model Torn
before simplification: 3 equations, 3 continuous variables
after: 3 equations, 3 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (0):
blocks:
  1: 3 simultaneous equations for i, u2, u1
     nonlinear; torn: u1
       u1 = R1*i
       u2 = R2*i^3
       u1 + u2 = 10 + time
