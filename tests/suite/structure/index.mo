Index reduction: which equations are differentiated, which states remain.

--- pendulum-index-3 analyze ---
model Pendulum
  parameter Real L = 1, g = 9.81;
  Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), F;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -F*x;
  der(vy) = -F*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
--- expect ---
model Pendulum
before simplification: 5 equations, 5 continuous variables
after: 5 equations, 5 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 3
states (2): y, der(y)
  y, der(y): chosen because the constraints determine the others best
dummy derivatives (4): x, der(x), vx, vy
differentiated 1x: der(x) = vx
differentiated 1x: der(y) = vy
differentiated 2x: x^2 + y^2 = L^2
blocks:
  1: x from x^2 + y^2 = L^2
  2: der(x) from 2*x*der(x) + 2*y*der(y) = 0
  3: vx from der(x) = vx
  4: 5 simultaneous equations for der(vx), der(der(y)), F, der(vy), der(der(x))
     linear; torn: F
       der(der(x)) = der(vx)
       der(der(y)) = der(vy)
       der(vx) + F*x = 0
       der(vy) = -F*y - g
       2*der(x)*der(x) + 2*x*der(der(x)) + (2*der(y)*der(y) + 2*y*der(der(y))) = 0
  5: vy from der(y) = vy

--- index-2-chain analyze ---
model M
  Real x, y;
equation
  x = sin(time);
  der(x) = y;
end M;

--- expect ---
model M
before simplification: 2 equations, 2 continuous variables
after: 2 equations, 2 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 2
states (0):
dummy derivatives (1): x
differentiated 1x: x = sin(time)
blocks:
  1: x from x = sin(time)
  2: der(x) from der(x) = cos(time)
  3: y from der(x) = y

--- index-3-chain analyze ---
model M
  Real x, y, z;
equation
  x = sin(time);
  der(x) = y;
  der(y) = z;
end M;
--- expect ---
model M
before simplification: 3 equations, 3 continuous variables
after: 3 equations, 3 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 3
states (0):
dummy derivatives (3): x, der(x), y
differentiated 2x: x = sin(time)
differentiated 1x: der(x) = y
blocks:
  1: x from x = sin(time)
  2: der(x) from der(x) = cos(time)
  3: der(der(x)) from der(der(x)) + sin(time) = 0
  4: y from der(x) = y
  5: der(y) from der(der(x)) = der(y)
  6: z from der(y) = z

--- rigidly-coupled-inertias analyze ---
connector Flange
  Real phi;
  flow Real tau;
end Flange;
model Inertia
  parameter Real J = 1;
  Flange a, b;
  Real phi, w;
equation
  phi = a.phi;
  phi = b.phi;
  w = der(phi);
  J*der(w) = a.tau + b.tau;
end Inertia;
model M
  Inertia one(J = 1, phi(start = 0, fixed = true), w(start = 1, fixed = true)), two(J = 2);
equation
  connect(one.b, two.a);
end M;
--- expect ---
model M
before simplification: 12 equations, 12 continuous variables
after: 4 equations, 4 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 2
states (2): one.phi, der(one.phi)
  one.phi, der(one.phi): chosen because the constraints determine the others best
dummy derivatives (2): one.w, two.w
differentiated 1x: one.w = der(one.phi)
differentiated 1x: two.w = der(one.phi)
blocks:
  1: one.w from one.w = der(one.phi)
  2: 4 simultaneous equations for der(der(one.phi)), der(one.w), der(two.w), one.b.tau
     linear, solved symbolically; torn: der(der(one.phi))
       der(one.w) = der(der(one.phi))
       one.J*der(one.w) = one.b.tau
       der(two.w) = der(der(one.phi))
       two.J*der(two.w) = (-one.b.tau)
  3: two.w from two.w = der(one.phi)

--- capacitor-loop analyze ---
model M
  parameter Real C1 = 1, C2 = 2, R = 1;
  Real v1(start = 1, fixed = true), v2, i1, i2;
equation
  C1*der(v1) = i1;
  C2*der(v2) = i2;
  v1 = v2;
  i1 + i2 + v1/R = 0;
end M;
--- expect ---
model M
before simplification: 4 equations, 4 continuous variables
after: 3 equations, 3 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (1): v1
blocks:
  1: 3 simultaneous equations for der(v1), i2, i1
     linear, solved symbolically; torn: der(v1)
       C1*der(v1) = i1
       C2*der(v1) = i2
       i1 + i2 + v1/R = 0

--- capacitor-loop-unsimplified analyze --keep-all-variables ---
model M
  parameter Real C1 = 1, C2 = 2, R = 1;
  Real v1(start = 1, fixed = true), v2, i1, i2;
equation
  C1*der(v1) = i1;
  C2*der(v2) = i2;
  v1 = v2;
  i1 + i2 + v1/R = 0;
end M;

--- expect ---
model M
before simplification: 4 equations, 4 continuous variables
after: 4 equations, 4 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 2
states (1): v1
  v1: chosen for its fixed start value
dummy derivatives (1): v2
differentiated 1x: v1 = v2
blocks:
  1: 4 simultaneous equations for der(v1), i2, der(v2), i1
     linear, solved symbolically; torn: der(v1)
       C1*der(v1) = i1
       C2*der(v2) = i2
       der(v1) = der(v2)
       i1 + i2 + v1/R = 0
  2: v2 from v1 = v2

--- inductor-cut-set analyze ---
model M
  parameter Real L1 = 1, L2 = 2, R = 1;
  Real i1(start = 1, fixed = true), i2, v1, v2, v;
equation
  L1*der(i1) = v1;
  L2*der(i2) = v2;
  i1 = i2;
  v1 + v2 = v;
  v = 1 - R*i1;
end M;
--- expect ---
model M
before simplification: 5 equations, 5 continuous variables
after: 4 equations, 4 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (1): i1
blocks:
  1: v from v = 1 - R*i1
  2: 3 simultaneous equations for der(i1), v2, v1
     linear, solved symbolically; torn: der(i1)
       L1*der(i1) = v1
       L2*der(i1) = v2
       v1 + v2 = v

--- inductor-cut-set-unsimplified analyze --keep-all-variables ---
model M
  parameter Real L1 = 1, L2 = 2, R = 1;
  Real i1(start = 1, fixed = true), i2, v1, v2, v;
equation
  L1*der(i1) = v1;
  L2*der(i2) = v2;
  i1 = i2;
  v1 + v2 = v;
  v = 1 - R*i1;
end M;

--- expect ---
model M
before simplification: 5 equations, 5 continuous variables
after: 5 equations, 5 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 2
states (1): i1
  i1: chosen for its fixed start value
dummy derivatives (1): i2
differentiated 1x: i1 = i2
blocks:
  1: v from v = 1 - R*i1
  2: 4 simultaneous equations for der(i1), v2, der(i2), v1
     linear, solved symbolically; torn: der(i1)
       L1*der(i1) = v1
       L2*der(i2) = v2
       der(i1) = der(i2)
       v1 + v2 = v
  3: i2 from i1 = i2

--- prefer-a-state analyze ---
model M
  Real a(start = 1, fixed = true);
  Real b(stateSelect = StateSelect.prefer);
  Real c;
equation
  der(a) = c;
  b = 2*a + 1;
  der(b) = -b;
end M;

--- expect ---
model M
before simplification: 3 equations, 3 continuous variables
after: 3 equations, 3 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 2
states (1): b
  b: chosen by stateSelect = prefer
dummy derivatives (1): a
differentiated 1x: b = 2*a + 1
blocks:
  1: der(b) from der(b) + b = 0
  2: der(a) from der(b) = 2*der(a)
  3: c from der(a) = c
  4: a from b = 2*a + 1

--- chain-of-aliases analyze ---
model M
  Real a(start = 1, fixed = true), b, c, d;
equation
  der(a) = -d;
  b = a;
  c = -b;
  d = -c;
end M;
--- expect ---
model M
before simplification: 4 equations, 4 continuous variables
after: 1 equations, 1 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 0
states (1): a
blocks:
  1: der(a) from der(a) + a = 0

--- planar-closed-loop analyze ---
// A slider-crank with free motion: one degree of freedom, the loop closes through the rod.
model M
  parameter Real r = 0.5, l = 1.3, J = 0.2, m = 0.7;
  Real phi(start = 0.3, fixed = true), w(start = 1, fixed = true), theta(start = 0.1), s(start = 1.7), v, F;
equation
  der(phi) = w;
  der(s) = v;
  r*sin(phi) + l*sin(theta) = 0;
  s = r*cos(phi) + l*cos(theta);
  m*der(v) = -F*cos(theta);
  J*der(w) = F*r*sin(phi - theta);
end M;
--- expect ---
model M
before simplification: 6 equations, 6 continuous variables
after: 6 equations, 6 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 3
states (2): phi, der(phi)
  phi, der(phi): chosen because the constraints determine the others best
dummy derivatives (6): w, s, der(s), v, theta, der(theta)
differentiated 1x: der(phi) = w
differentiated 1x: der(s) = v
differentiated 2x: r*sin(phi) + l*sin(theta) = 0
differentiated 2x: s = r*cos(phi) + l*cos(theta)
blocks:
  1: w from der(phi) = w
  2: theta from r*sin(phi) + l*sin(theta) = 0
  3: der(theta) from r*(cos(phi)*der(phi)) + l*(cos(theta)*der(theta)) = 0
  4: 6 simultaneous equations for der(der(phi)), der(v), der(der(theta)), der(der(s)), F, der(w)
     linear; torn: der(der(theta)), F
       der(der(phi)) = der(w)
       der(der(s)) = der(v)
       r*(cos(phi)*der(der(phi)) - sin(phi)*der(phi)*der(phi)) + l*(cos(theta)*der(der(theta)) - sin(theta)*der(theta)*der(theta)) = 0
       der(der(s)) = -r*(cos(phi)*der(phi)*der(phi) + sin(phi)*der(der(phi))) - l*(cos(theta)*der(theta)*der(theta) + sin(theta)*der(der(theta)))
       m*der(v) + F*cos(theta) = 0
       J*der(w) = F*r*sin(phi - theta)
  5: der(s) from der(s) = -r*(sin(phi)*der(phi)) - l*(sin(theta)*der(theta))
  6: v from der(s) = v
  7: s from s = r*cos(phi) + l*cos(theta)

--- preferred-states-need-no-derivative analyze ---
model M
  Real U(start = 100), m(start = 2), u, T(start = 10, stateSelect = StateSelect.prefer);
equation
  der(m) = 1;
  der(U) = 40 + sin(time);
  U = m*u;
  u = 4*T + 0.1*T^2;
end M;

--- expect ---
model M
before simplification: 4 equations, 4 continuous variables
after: 4 equations, 4 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 2
states (2): m, T
  m: chosen because the constraints determine the others best
  T: chosen by stateSelect = prefer
dummy derivatives (2): U, u
differentiated 1x: U = m*u
differentiated 1x: u = 4*T + 0.1*T^2
blocks:
  1: der(m) from der(m) = 1
  2: der(U) from der(U) = 40 + sin(time)
  3: u from u = 4*T + 0.1*T^2
  4: U from U = m*u
  5: der(u) from der(U) = der(m)*u + m*der(u)
  6: der(T) from der(u) = 4*der(T) + 0.1*(2*T*der(T))

--- preferred-but-given-stays-algebraic analyze ---
model M
  Real T(stateSelect = StateSelect.prefer), x(start = 0);
equation
  T = 300 + sin(time);
  der(x) = T - x;
end M;

--- expect ---
model M
before simplification: 2 equations, 2 continuous variables
after: 2 equations, 2 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (1): x
blocks:
  1: T from T = 300 + sin(time)
  2: der(x) from der(x) = T - x

--- factor-of-parameters-that-is-zero analyze ---
model M
  parameter Real C = 1e-6, fraction = 1, R = 10;
  Real c, v, i;
equation
  c = C*(1 - fraction)*exp(v/2);
  i = c*der(v);
  v = R*i + sin(time);
end M;

--- expect ---
model M
before simplification: 3 equations, 3 continuous variables
after: 1 equations, 1 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (0):
blocks:
  1: v from v = sin(time)

--- sums-inside-of-sums-hide-constraints analyze ---
// Five wires meet without a neutral: the mean current is zero although it is differentiated.
model Star
  Real i[5], v0, i0, v[5], u;
equation
  for k in 1:5 loop
    sin(k + time) = v[k] + 2*i[k] + v0 + u;
  end for;
  v = 0.1*der(i) + zeros(5);
  5*i0 = sum(i);
  v0 = 0.3*der(i0);
  -i[1] - i[2] - i[3] - i[4] = i[5];
end Star;

--- expect ---
model Star
before simplification: 13 equations, 13 continuous variables
after: 13 equations, 13 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 2
states (4): i[1], i[2], i[3], i[4]
  i[1], i[2], i[3], i[4]: chosen because the constraints determine the others best
dummy derivatives (2): i[5], i0
differentiated 1x: 5*i0 = 0
differentiated 1x: -i[1] - i[2] - i[3] - i[4] = i[5]
blocks:
  1: der(i0) from 5*der(i0) = 0
  2: v0 from v0 = 0.3*der(i0)
  3: i[5] from -i[1] - i[2] - i[3] - i[4] = i[5]
  4: 11 simultaneous equations for v[1], u, v[3], v[4], v[5], der(i[1]), v[2], der(i[3]), der(i[4]), der(i[5]), der(i[2])
     linear; torn: u
       sin(1 + time) = v[1] + 2*i[1] + v0 + u
       sin(2 + time) = v[2] + 2*i[2] + v0 + u
       sin(3 + time) = v[3] + 2*i[3] + v0 + u
       sin(4 + time) = v[4] + 2*i[4] + v0 + u
       sin(5 + time) = v[5] + 2*i[5] + v0 + u
       v[1] = 0.1*der(i[1])
       v[2] = 0.1*der(i[2])
       v[3] = 0.1*der(i[3])
       v[4] = 0.1*der(i[4])
       v[5] = 0.1*der(i[5])
       -der(i[1]) - der(i[2]) - der(i[3]) - der(i[4]) = der(i[5])
  5: i0 from 5*i0 = 0

--- inductors-into-a-part-without-ground analyze ---
// The nodes of the triangle together say i1 + i2 + i3 = 0, whatever stands between them.
model M
  Real i1(start = 0), i2(start = 0), i3, v1, v2, v3, a, b, c;
  parameter Real R = 2, L = 0.1, n = 3;
initial equation
  i1 = 0;
  i2 = 0;
equation
  L*der(i1) = sin(time) - v1;
  L*der(i2) = sin(time - 2) - v2;
  L*der(i3) = sin(time + 2) - v3;
  R*a = v1 - v2;
  R*b = v2 - v3;
  R*c = v3 - v1;
  i1 = n*a - n*c;
  i2 = n*b - n*a;
  i3 = n*c - n*b;
end M;
--- expect ---
model M
before simplification: 9 equations, 9 continuous variables
after: 9 equations, 9 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 2
states (2): i1, i2
  i1, i2: chosen because the constraints determine the others best
dummy derivatives (1): i3
differentiated 1x: i1 + i2 + i3 = 0
blocks:
  1: i3 from i1 + i2 + i3 = 0
  2: 9 simultaneous equations for der(i1), v2, der(i3), v1, v3, c, a, der(i2), b
     linear; torn: c, v2
       L*der(i1) = sin(time) - v1
       L*der(i2) = sin(time - 2) - v2
       L*der(i3) = sin(time + 2) - v3
       R*a = v1 - v2
       R*b = v2 - v3
       R*c = v3 - v1
       i1 = n*a - n*c
       der(i1) + der(i2) + der(i3) = 0
       i3 = n*c - n*b
