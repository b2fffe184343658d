What may be fixed, decided by structural rank. The incidence is that of the initialization paper, section 4.1: f(x, u),
g(x, z), h(x, y, z, v) with five unknowns, of which two may be fixed, but neither (u, z) nor (x, z) nor (x, u).

--- u-and-z error init --relax u,v --fix u=1 --fix z=2 ---
model Incidence
  parameter Real u = 1;
  parameter Real v = 2;
  Real x;
  Real y;
  Real z;
equation
  x^3 + x = u;
  x - exp(z) = 0;
  x*y + z = v;
end Incidence;
--- expect ---
exit: 5
u and z cannot both be fixed: x^3 + x = u and x = exp(z) then both determine x
relax u first
--> model.mo:8:3

--- x-and-z error init --relax u,v --fix x=1 --fix z=2 ---
model Incidence
  parameter Real u = 1;
  parameter Real v = 2;
  Real x;
  Real y;
  Real z;
equation
  x^3 + x = u;
  x - exp(z) = 0;
  x*y + z = v;
end Incidence;
--- expect ---
exit: 5
x and z cannot both be fixed: x = exp(z) then has no unknown left

--- x-and-u error init --relax u,v --fix x=1 --fix u=2 ---
model Incidence
  parameter Real u = 1;
  parameter Real v = 2;
  Real x;
  Real y;
  Real z;
equation
  x^3 + x = u;
  x - exp(z) = 0;
  x*y + z = v;
end Incidence;
--- expect ---
exit: 5
u and x cannot both be fixed: x^3 + x = u then has no unknown left

--- determined-already error init --relax p --fix x=1 ---
model Determined "f(x) = 0 and g(x, y, z) = 0: x cannot be fixed"
  parameter Real p = 1;
  Real x;
  Real y;
equation
  x^3 + x = 2;
  x + y = p;
end Determined;
--- expect ---
exit: 5
error: x cannot be fixed: x^3 + x = 2 determines it already
--> model.mo:6:3

--- y-and-v-may-be-fixed init --relax u,v --fix y=1 --fix v=3 ---
model Incidence
  parameter Real u = 1;
  parameter Real v = 2;
  Real x(start = 1);
  Real y;
  Real z;
equation
  x^3 + x = u;
  x - exp(z) = 0;
  x*y + z = v;
end Incidence;
--- expect ---
name  kind       weight  value        min  max  nominal  mark
u     parameter  0       12.9716459   -    -    -        Y
v     parameter  1       3            -    -    -        Y
x     algebraic  0       2.20794003   -    -    -        Y
y     algebraic  1       1            -    -    -        N
z     algebraic  0       0.792059968  -    -    -        N

--- u-and-y-may-be-fixed init --relax u,v --fix u=10 --fix y=1 ---
model Incidence
  parameter Real u = 1;
  parameter Real v = 2;
  Real x(start = 1);
  Real y;
  Real z;
equation
  x^3 + x = u;
  x - exp(z) = 0;
  x*y + z = v;
end Incidence;
--- expect ---
name  kind       weight  value        min  max  nominal  mark
u     parameter  1       10           -    -    -        Y
v     parameter  0       2.69314718   -    -    -        Y
x     algebraic  0       2            -    -    -        Y
y     algebraic  1       1            -    -    -        N
z     algebraic  0       0.693147181  -    -    -        N

--- alternatives init --alternatives x ---
model Replace "The paper's 4.2: y may be guessed in place of x"
  Real x;
  Real y;
  Real other;
equation
  (x - 3)/((x - 3)^2 + 1) = 0.1;
  x - y = 0;
  other^3 = 2;
end Replace;
--- expect ---
may be guessed in place of x (equations between):
  y (1)

--- alternatives-for-a-fixed-one init --alternatives u ---
model Incidence
  parameter Real u = 1;
  parameter Real v = 2;
  Real x;
  Real y;
  Real z;
equation
  x^3 + x = u;
  x - exp(z) = 0;
  x*y + z = v;
end Incidence;
--- expect ---
may be guessed in place of u (equations between):
  x (1)
  y (2)
  z (2)
may be fixed in place of u:
  x
  z
  y

--- unknown-name error init --fix speeed=1 ---
model M
  Real speed;
equation
  der(speed) = 1;
end M;
--- expect ---
exit: 2
there is no variable speeed
did you mean speed?

--- out-of-bounds error init --fix x=-1 ---
model M
  Real x(min = 0, max = 3);
equation
  der(x) = 1;
end M;
--- expect ---
exit: 2
x = -1 is not between its bounds 0 and 3

--- not-a-parameter-of-the-equations error init --relax n ---
model M
  parameter Real n = 2;
  Real x;
equation
  der(x) = 1;
end M;
--- expect ---
exit: 5
n cannot be relaxed: it stands in no equation with unknowns
