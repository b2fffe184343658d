Models without a solution for structural reasons: what is over- and under-determined, exit code 4.

--- no-equation-for-a-variable error check ---
model M
  Real x, y;
equation
  der(x) = -x;
end M;
--- expect ---
exit: 4
1 equations for 2 unknowns; not determined: y
model.mo:2:11
an equation is missing for one of: y

--- one-equation-too-many error check ---
model M
  Real x, y;
equation
  x = time;
  y = 2*x;
  x + y = 3;
end M;
--- expect ---
exit: 4
3 equations for 2 unknowns; determined more than once: x, y
model.mo:4:3
one of these equations is too many: x = time, y = 2*x, x + y = 3

--- both error check ---
model M
  Real a, b, c;
equation
  a = time;
  a = 2*time + 1;
  b + c = a;
end M;
--- expect ---
exit: 4
error: the model is structurally singular: 3 equations for 3 unknowns; not determined: b, c; determined more than once: a
--> model.mo:4:3

--- singular-although-the-counts-agree error check ---
model M
  Real x, y, z;
equation
  x = time;
  2*x = time + 1;
  y + z = x;
end M;
--- expect ---
exit: 4
error: the model is structurally singular: 3 equations for 3 unknowns; not determined: y, z; determined more than once: x
--> model.mo:4:3

--- unbalanced-component error check ---
connector Pin
  Real v;
  flow Real i;
end Pin;
model Bad
  Pin p;
  Real w;
equation
  p.v = p.i;
end Bad;
model M
  Bad b;
end M;
--- expect ---
exit: 4
error: the model is structurally singular: 0 equations for 1 unknowns; not determined: b.w
--> model.mo:7:8

--- singular-mode-entered-by-time error check ---
model M
  Real x, y;
equation
  if time < 1 then
    x = 1;
    y = 2;
  else
    x = 1;
    x = y - y + 3;
  end if;
end M;
--- expect ---
exit: 4
structurally singular in the mode time < 1 = false
determined more than once: x
one of these equations is too many: x = 1, x = 3

--- parameter-is-not-an-unknown error check ---
model M
  parameter Real p = 1;
  Real x;
equation
  p = 2;
  x = p;
end M;
--- expect ---
exit: 3
error: p is a parameter: an equation cannot determine it
--> model.mo:5:3

--- incidence-x-may-not-be-fixed error check ---
// 0 = f(x), 0 = g(x, y, z): of three unknowns one may be fixed, but not x.
model M
  Real x, y, z;
equation
  x^2 = 4;
  x + y + z = time;
  x = 2;
end M;
--- expect ---
exit: 4
error: the model is structurally singular: 2 equations for 2 unknowns; not determined: y, z; x^2 = 4 has no unknown left
--> model.mo:5:3

--- incidence-y-may-be-fixed analyze ---
model M
  Real x(start = 1), y, z;
equation
  x^2 = 4;
  x + y + z = time;
  y = 2*time;
end M;
--- expect ---
model M
before simplification: 3 equations, 3 continuous variables
after: 3 equations, 3 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (0):
blocks:
  1: x from x^2 = 4
  2: y from y = 2*time
  3: z from x + y + z = time

--- incidence-u-and-z-may-not-both-be-fixed error check ---
// 0 = f(x, u), 0 = g(x, z), 0 = h(x, y, z, v) with u and z given: three equations, three unknowns, rank two.
model M
  Real x, y, z, u, v;
equation
  x = 2*u;
  x + z = time;
  x + y = z - v;
  u = 1 + time;
  z = 2*time;
end M;
--- expect ---
exit: 4
not determined: y, v; determined more than once: x, u, z

--- incidence-u-and-y-may-be-fixed analyze ---
model M
  Real x, y, z, u, v;
equation
  x = 2*u;
  x + z = time;
  x + y = z - v;
  u = 1 + time;
  y = 2*time;
end M;
--- expect ---
model M
before simplification: 5 equations, 5 continuous variables
after: 5 equations, 5 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (0):
blocks:
  1: u from u = 1 + time
  2: x from x = 2*u
  3: z from x + z = time
  4: y from y = 2*time
  5: v from x + y = z - v

--- a-coefficient-that-is-zero-in-a-mode check ---
model M
  Real x, y(start = 1, fixed = true);
  Boolean open(start = false, fixed = true);
equation
  der(y) = -y;
  when y < 0.5 then open = true; end when;
  (if open then 0 else 1 + y)*x + y = 1;
end M;
--- expect ---
M: no errors, 1 warning

--- entering-it-stops-the-run error simulate --stop 2 ---
model M
  Real x, y(start = 1, fixed = true);
  Boolean open(start = false, fixed = true);
equation
  der(y) = -y;
  when y < 0.5 then open = true; end when;
  (if open then 0 else 1 + y)*x + y = 1;
end M;
--- expect ---
exit: 6
--> model.mo:5:3
error: at time 0.6931473588746565: the model is structurally singular in the mode open = true: 2 equations for 1 unknowns; determined more than once: y
--> model.mo:5:3

--- a-discrete-number-that-a-when-sets-to-zero check ---
model M
  discrete Real k(start = 1, fixed = true);
  Real x, u(start = 0, fixed = true);
equation
  der(u) = 1;
  when u > 0.5 then k = 0; end when;
  k*x = 1;
end M;
--- expect ---
M: no errors, 1 warning

--- zero-stops-the-run error simulate ---
model M
  discrete Real k(start = 1, fixed = true);
  Real x, u(start = 0, fixed = true);
equation
  der(u) = 1;
  when u > 0.5 then k = 0; end when;
  k*x = 1;
end M;
--- expect ---
exit: 6
warning: the model is structurally singular in the mode (k == 0) = true
the model is structurally singular in the mode k = 0
--> model.mo:7:3

--- a-number-that-time-makes-zero error check ---
model M
  Integer k = if time < 0.5 then 2 else 0;
  Real x;
equation
  k*x = 1;
end M;
--- expect ---
exit: 4
error: the model is structurally singular in the mode k = 0
--> model.mo:5:3
with k zero nothing else is left of k*x = 1

--- a-number-that-is-zero-at-the-start error check ---
model M
  discrete Real k(start = 0, fixed = true);
  Real x;
equation
  when time > 0.5 then k = 2; end when;
  k*x = 1;
end M;
--- expect ---
exit: 4
error: the model is structurally singular in the mode k = 0

--- a-number-that-is-zero-where-nothing-needs-it check ---
model M "k = 0 leaves x = u"
  discrete Real k(start = 0, fixed = true);
  Real x, u(start = 0, fixed = true);
equation
  der(u) = 1;
  when time > 0.5 then k = 2; end when;
  x = u + k*(u - 1);
end M;
--- expect ---
M: no errors

--- literals-that-are-exhausted check ---
model M "e has no fourth value: no mode lacks an equation for v"
  type E = enumeration(a, b, c);
  E e(start = E.a, fixed = true);
  Real v, x(start = 0, fixed = true);
equation
  der(x) = v;
  when x > 1 then e = E.b; elsewhen x > 2 then e = E.c; end when;
  if e == E.a then v = 1; elseif e == E.b then v = 2; elseif e == E.c then v = 3; end if;
end M;
--- expect ---
M: no errors

--- inputs-that-an-assertion-keeps-apart check ---
model M
  input Boolean u1, u2;
  Real v, i1, i2, x(start = 0, fixed = true);
equation
  der(x) = v;
  assert(not (u1 and u2), "never both");
  if u1 then v = 1; else i1 = 0; end if;
  if u2 then v = 2; else i2 = 0; end if;
  i1 + i2 = v;
end M;
--- expect ---
M: no errors

--- constraints-that-say-the-same error check ---
model M "a state closes both: a warning"
  Real v1(start = 1, fixed = true), v2(start = 2, fixed = true), a, b, x(start = 0, fixed = true);
  Boolean s1 = x >= 1, s2 = x >= 2;
equation
  der(x) = 1;
  der(v1) = -a - b;
  der(v2) = a + b;
  if s1 then v1 = v2; else a = 0; end if;
  if s2 then 2*v2 = 2*v1; else b = 0; end if;
end M;
--- expect ---
exit: 0
warning: the model is singular in the mode s1 = true, s2 = true: v1 = v2 and 2*v2 = 2*v1 depend on each other
--> model.mo:9:14

--- a-reference-is-missing error check ---
model M "a circuit without ground: the second node repeats what the first says"
  Real p, n, i, j;
equation
  p - n = 3;
  2*i = p - n;
  i + j = 0;
  j + i = 0;
end M;
--- expect ---
exit: 4
error: the model is structurally singular
only differences of p, n are determined: a reference is missing (in a circuit, a ground)
j + i = 0 says nothing new: the other equations imply it

--- an-integer-that-nothing-determines error simulate --stop 1 ---
model M
  Integer k;
  Real x = time*k;
end M;
--- expect ---
exit: 4
model.mo:2
structurally singular: not determined: k
