Initial values found from marks, wishes, steady states and inverse problems.

--- guess-through-an-equation init --guess y=20 --mark y --show reduced ---
model Mark "Unmarked x is eliminated in favour of y, so the solution near y's guess is found (paper, 4.2)"
  Real x;
  Real y;
equation
  (x - 3)/((x - 3)^2 + 1) = 0.1;
  2*x = y + 1;
end Mark;
--- expect ---
name  kind       weight  value      min  max  nominal  mark
y     algebraic  0       24.797959  -    -    -        Y

--- guess-through-an-alias init --guess y=10 --mark y ---
model Mark
  Real x;
  Real y;
equation
  (x - 3)/((x - 3)^2 + 1) = 0.1;
  x - y = 0;
end Mark;
--- expect ---
name  kind       weight  value       min  max  nominal  mark
x     algebraic  0       12.8989795  -    -    -        N
y     algebraic  0       12.8989795  -    -    -        Y

--- steady init --steady ---
model Tanks
  parameter Real q = 0.5;
  Real h1(start = 2, fixed = true);
  Real h2(start = 1, fixed = true);
equation
  der(h1) = q - sqrt(h1 - h2);
  der(h2) = sqrt(h1 - h2) - 0.4*sqrt(h2);
end Tanks;
--- expect ---
name     kind          weight  value   min  max  nominal  mark
q        parameter     1       0.5     -    -    -        Y
h1       differential  0       1.8125  -    -    -        Y
der(h1)  derivative    1       0       -    -    -        N
h2       differential  0       1.5625  -    -    -        Y
der(h2)  derivative    1       0       -    -    -        N

--- steady-of-one init --steady=h2 ---
model Tanks
  parameter Real q = 0.5;
  Real h1(start = 2, fixed = true);
  Real h2(start = 1, fixed = true);
equation
  der(h1) = q - sqrt(h1 - h2);
  der(h2) = sqrt(h1 - h2) - 0.4*sqrt(h2);
end Tanks;
--- expect ---
name     kind          weight  value          min  max  nominal  mark
q        parameter     1       0.5            -    -    -        Y
h1       differential  1       2              -    -    -        Y
der(h1)  derivative    0       -0.0252257314  -    -    -        N
h2       differential  0       1.72413793     -    -    -        Y
der(h2)  derivative    1       0              -    -    -        N

--- sizing init --steady --relax q --fix h2=1 ---
model Sizing "Which feed keeps the second tank at 1?"
  parameter Real q = 0.5;
  Real h1(start = 2);
  Real h2(start = 1);
equation
  der(h1) = q - sqrt(h1 - h2);
  der(h2) = sqrt(h1 - h2) - 0.4*sqrt(h2);
end Sizing;
--- expect ---
name     kind          weight  value  min  max  nominal  mark
q        parameter     0       0.4    -    -    -        Y
h1       differential  0       1.16   -    -    -        Y
der(h1)  derivative    1       0      -    -    -        N
h2       differential  1       1      -    -    -        Y
der(h2)  derivative    1       0      -    -    -        N

--- wishes-without-conflict init --weight x=0.5 --guess x=4 ---
model Wish
  Real x;
  Real y;
equation
  der(x) = -x;
  y = 2*x;
end Wish;
--- expect ---
name    kind          weight  value         min  max  nominal  mark
x       differential  0.5     4 (wished 4)  -    -    -        Y
der(x)  derivative    0       -4            -    -    -        N
y       algebraic     0       8             -    -    -        N

--- wishes-in-conflict init --weight x=0.5 --weight y=0.5 --guess x=1 --guess y=5 ---
model Wish "x = 1 and 2 x = 5 cannot both be: (x - 1)^2/1 + (y - 5)^2/25 least at x = (1 + 2/5)/(1 + 4/25)"
  Real x(nominal = 1);
  Real y(nominal = 5);
equation
  der(x) = -x;
  y = 2*x;
end Wish;
--- expect ---
name    kind          weight  value                  min  max  nominal  mark
x       differential  0.5     1.20689655 (wished 1)  -    -    1        Y
der(x)  derivative    0       -1.20689655            -    -    -        N
y       algebraic     0.5     2.4137931 (wished 5)   -    -    5        N

--- homotopy init --method homotopy,newton ---
model Homotopy
  Real x;
equation
  homotopy(atan(20*(x - 3)) + 0.01*(x - 3), x - 2.9) = 0;
end Homotopy;
--- expect ---
name  kind       weight  value  min  max  nominal  mark
x     algebraic  0       3      -    -    -        N

--- no-such-method error init --method magic ---
model M
  Real x;
equation
  x^3 = 8;
end M;
--- expect ---
exit: 2
there is no method magic

--- failure-explained error init ---
model NoSolution
  Real x(start = 1, min = 0);
  Real y;
equation
  x^2 + y^2 = -1;
  x - y = 3;
end NoSolution;
--- expect ---
exit: 5
error: initialization failed at time 0.0: 2 simultaneous equations for y, x could not be solved; worst: x^2 + y^2 = -1
--> model.mo:5:3
values reached
residual
condition of the Jacobian
the guesses that matter most
Levenberg-Marquardt

--- multi-start init --method multi-start ---
model Box
  Real x(min = 2, max = 4);
equation
  sin(x) = 0;
end Box;
--- expect ---
name  kind       weight  value       min  max  nominal  mark
x     algebraic  0       3.14159265  2    4    -        N

--- guess-through-several-equations init --guess y=8 --mark y --show reduced ---
model Mark "x and u are eliminated in favour of y, blocks of their own by structure; from x = 0 the other solution, 3.1, is found"
  Real x, u, y, k;
equation
  (x - 3)/((x - 3)^2 + 1) = 0.1;
  k = 3;
  2*x = u + 1;
  u = k*y;
end Mark;
--- expect ---
name  kind       weight  value       min  max  nominal  mark
y     algebraic  0       8.26598632  -    -    -        Y

--- a-path-that-turns-back-twice init --modes homotopy ---
model Fold "z = 2.04 and z = 4.24 are folds of the locked equations; beyond z = 8 the relation switches"
  Real z(start = 0);
  Real w;
equation
  w = if z > 8 then 3*(z - 8) else 0;
  z + 2.2*sin(z) + w = 14;
end Fold;
--- expect ---
name  kind       weight  value       min  max  nominal  mark
z     algebraic  0       9.59100373  -    -    -        Y
w     algebraic  0       4.77301119  -    -    -        N

--- a-value-before-the-start-given-by-what-follows simulate --stop 0.1 --intervals 1 ---
// `pre(y) = u` determines pre(y), though it reads like an equation for u; u follows from its own past.
model M
  Boolean u, y;
  Real x = cos(10*time);
initial equation
  pre(u) = false;
  pre(y) = u;
equation
  u = not pre(u) and x > 0.5 or pre(u) and x >= 0.2;
  when initial() then
    y = u;
  elsewhen u and time > 0.3 then
    y = not u;
  end when;
end M;
--- expect ---
time,u,y,x
0.0,true,true,1.0
0.1,true,true,0.5403023058681398

--- connected-booleans-with-pasts-of-their-own simulate --stop 1 --intervals 1 ---
// A latch that starts set, connected to a delay that was off before: pre(l.y) and pre(d.u) differ at the start.
block Latch
  input Boolean u;
  output Boolean y;
initial equation
  y = u;
equation
  when {u, time > 0.7} then
    y = u and time < 0.7;
  end when;
end Latch;
block Delay
  input Boolean u;
  output Boolean y;
  discrete Real entry;
initial equation
  pre(u) = false;
  pre(entry) = -1;
equation
  when u then
    entry = time;
  end when;
  y = u and time >= entry + 0.5;
end Delay;
model M
  Latch l(u = time < 0.6);
  Delay d;
equation
  connect(l.y, d.u);
end M;
--- expect ---
time,l.u,l.y,d.u,d.y,d.entry
0.0,true,true,true,true,-1.0
0.6,true,true,true,true,-1.0
0.6,false,true,true,true,-1.0
0.7,false,true,true,true,-1.0
0.7,false,false,false,false,-1.0
1.0,false,false,false,false,-1.0

--- an-initial-equation-reaches-a-past-through-copies simulate --stop 1 --intervals 1 ---
// A step of a graph that starts active: active is a copy of what was decided the instant before.
model M
  Boolean active, local, next;
  Boolean other;
initial equation
  active = true;
  other = true;
  pre(next) = pre(local);
equation
  active = local;
  local = pre(next);
  next = time > 0.8 or local and not time > 0.5;
  other = time > 0.8 or pre(other) and not time > 0.5;
end M;
--- expect ---
time,active,local,next,other
0.0,true,true,true,true
0.5,true,true,true,true
0.5,false,false,false,false
0.8,false,false,false,false
0.8,true,true,true,true
1.0,true,true,true,true

--- integers-of-a-loop-follow-from-its-relations init --modes search ---
model M
  Real x(start = 0);
  Integer k;
equation
  k = if x > 2 then 3 elseif x > 1 then 2 else 1;
  x = if k == 1 then 2.5 elseif k == 3 then 0.5 else 1.5;
end M;
--- expect ---
name  kind       weight  value  min  max  nominal  mark
x     algebraic  0       1.5    -    -    -        Y
k     discrete   0       2      -    -    -        N

--- values-of-when-initial-are-solved-for simulate --stop 1 --intervals 1 ---
model M
  Real x(start = 3);
  discrete Real k;
  parameter Real p(fixed = false, start = 1);
  Real z(start = 0, fixed = true);
  discrete Real c;
equation
  der(x) = k - 4;
  der(z) = c;
  when initial() then
    k = x^2;
    c = 2*p;
  end when;
initial equation
  der(x) = 0;
  der(z) = 3;
end M;
--- expect ---
time,x,k,p,z,c
0.0,2.0,4.0,1.5,0.0,3.0
1.0,2.0,4.0,1.5,3.0,3.0

--- reinit-when-initial-is-an-initial-equation simulate --stop 1 --intervals 1 ---
model M
  Real x(start = 5);
equation
  der(x) = 1;
  when initial() then
    reinit(x, 1);
  end when;
end M;
--- expect ---
time,x
0.0,1.0
1.0,2.0000000000000004

--- terminate-when-initial simulate --stop 1 --intervals 1 ---
model M
  Real x(start = 5, fixed = true);
equation
  der(x) = 1;
  when initial() then
    terminate("enough");
  end when;
end M;
--- expect ---
time,x
0.0,5.0

--- assertions-when-initial error simulate ---
model M
  Real x(start = 5, fixed = true);
equation
  der(x) = 1;
  when initial() then
    assert(x < 4, "x is too large");
  end when;
end M;
--- expect ---
exit: 5
error: assertion failed at time 0.0: x is too large
--> model.mo:5:3

--- assertions-of-initial-algorithms error simulate ---
model M
  Real x(start = 5, fixed = true);
equation
  der(x) = 1;
initial algorithm
  assert(x < 4, "x is too large");
end M;
--- expect ---
exit: 5
error: assertion failed at time 0.0: x is too large
--> model.mo:6:3

--- assertions-of-the-start-end-with-it simulate --stop 2 --intervals 1 ---
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
initial equation
  assert(x < 1, "x is too large");
initial algorithm
  assert(x < 0.5, "x is too large");
end M;
--- expect ---
time,x
0.0,0.0
2.0,2.0

--- start-values-reach-what-is-computed-from-them simulate --stop 1 --intervals 1 ---
// r, v and w have no start values of their own: zero would lead to other roots than those meant.
model M
  Real x(start = 3), y(start = 0, fixed = true), r, u(start = -3), v, w;
equation
  der(y) = 0;
  r = sqrt(x^2 + y^2);
  (r - 2)^2 = 1;
  v = u - 1;
  w = v/2;
  w^2 = 4 + 0*time;
end M;
--- expect ---
time,x,y,r,u,v,w
0.0,3.0,0.0,3.0,-3.0,-4.0,-2.0
1.0,3.0,0.0,3.0,-3.0,-4.0,-2.0

--- a-start-value-goes-back-through-a-linear-equation simulate --stop 1 --intervals 1 ---
model M
  Real x, y(start = -5);
equation
  y = 2*x + 1;
  x^2 = 9 + 0*time;
end M;
--- expect ---
time,x,y
0.0,-3.0,-5.0
1.0,-3.0,-5.0

--- a-parameter-that-nothing-determines simulate --stop 1 --intervals 1 --variables p ---
model M
  parameter Real p(fixed = false, start = 2);
  Real x(start = 1, fixed = true);
equation
  der(x) = -p*x;
end M;
--- expect ---
time,p
0.0,2.0
1.0,2.0

--- a-parameter-that-nothing-determines-is-named error simulate --stop 1 ---
model M
  parameter Real p(fixed = false, start = 2);
  Real x(start = 1, fixed = true);
equation
  der(x) = -p*x;
end M;
--- expect ---
exit: 0
warning: nothing determines parameter p (fixed = false): it keeps its start value 2.0
--> model.mo:2
an initial equation or a fixed start value would determine it
