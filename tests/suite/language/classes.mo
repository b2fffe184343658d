Classes of every kind (Modelica 3.6, chapters 4 to 7).

--- the-four-kinds-of-import simulate --stop 1 --intervals 1 ---
package Q
  package P
    constant Real c = 5;
    constant Real d = 6;
    model M
      Real x = c;
    end M;
  end P;
end Q;
model M
  import Q.P;
  import R = Q.P;
  import Q.P.{c, d};
  model In
    import Q.P.*;
    Real y = d;
    M m;
  end In;
  In i;
  Real a = P.c, b = R.d, e = c + d;
end M;
--- expect ---
time,i.y,i.m.x,a,b,e
0.0,6.0,5.0,5.0,6.0,11.0
1.0,6.0,5.0,5.0,6.0,11.0

--- encapsulated-sees-only-imports error check ---
package P
  constant Real c = 1;
  encapsulated model M
    Real x = P.c;
  end M;
end P;
model N
  P.M m;
end N;
--- expect ---
exit: 3
error: P.c is not known in P.M
--> model.mo:4:14
help: P.M is encapsulated: import what it uses

--- encapsulated-base-class error check ---
model A
  Real x = 1;
end A;
encapsulated model M
  extends A;
end M;
--- expect ---
exit: 3
error: the class A is not known here
--> model.mo:5:11
help: M is encapsulated: import what it uses

--- constraining-modifiers-hold-for-the-default-too simulate --stop 0 ---
partial model R0
  parameter Real k = 1;
  Real z;
end R0;
model R1
  extends R0;
equation
  z = k;
end R1;
model R2
  extends R0;
equation
  z = 2*k;
end R2;
model H
  replaceable model R = R1 constrainedby R0(k = 9);
  replaceable model S = R1(k = 5) constrainedby R0(k = 9);
  R r;
  S s;
  replaceable R1 q constrainedby R0(k = 3);
end H;
model M
  H h0, h(redeclare model R = R2, redeclare R2 q);
end M;
--- expect ---
time,h0.r.z,h0.s.z,h0.q.z,h.r.z,h.s.z,h.q.z
0.0,9.0,5.0,3.0,18.0,5.0,6.0

--- a-value-of-a-record-comes-before-what-its-class-says simulate --stop 0 ---
record A
  Real a = 1;
  Real b = 2;
end A;
record B
  extends A(b = 7);
  A n(a = 10);
end B;
model M
  B x = B(a = 1, b = 3, n = A(a = 4));
  B y(a = 6);
  B z[2] = {x, y};
end M;
--- expect ---
time,x.a,x.b,x.n.a,x.n.b,y.a,y.b,y.n.a,y.n.b,z[1].a,z[1].b,z[1].n.a,z[1].n.b,z[2].a,z[2].b,z[2].n.a,z[2].n.b
0.0,1.0,3.0,4.0,2.0,6.0,7.0,10.0,2.0,1.0,3.0,4.0,2.0,6.0,7.0,10.0,2.0

--- partial-derivative-of-a-function-inside-a-function simulate --stop 2 --intervals 2 ---
function f
  input Real x;
  input Real y;
  output Real z = x^2*y;
algorithm
end f;
function fx = der(f, x);
function fxy = der(f, x, y);
function g
  input Real a;
  output Real b;
algorithm
  b := fx(a, 3) + fxy(a, 3);
end g;
model M
  Real q = g(time);
end M;
--- expect ---
time,q
0.0,0.0
1.0,8.0
2.0,16.0

--- impure-function-in-an-equation error check ---
impure function f
  input Real x;
  output Real y = x;
algorithm
end f;
model M
  Real y = f(time);
end M;
--- expect ---
exit: 3
error: f is impure and cannot be called in an equation that holds all the time
--> model.mo:7:12
help: call it in a when-clause or an initial equation, or write pure(…) around the call

--- impure-call-without-results simulate --stop 1 --intervals 1 ---
impure function note
  input Real x;
algorithm
end note;
model M
  Real x = time;
equation
  note(x);
end M;
--- expect ---
time,x
0.0,0.0
1.0,1.0

--- impure-function-where-it-may-stand simulate --stop 1 --intervals 1 ---
impure function f
  input Real x;
  output Real y = 2*x;
algorithm
end f;
model M
  Real a = pure(f(time));
  Real b(start = 0, fixed = true);
equation
  when time > 0.5 then
    b = f(3);
  end when;
end M;
--- expect ---
time,a,b
0.0,0.0,0.0
0.5,1.0,0.0
0.5,1.0,6.0
1.0,2.0,6.0

--- function-that-hides-an-impure-call check ---
impure function f
  input Real x;
  output Real y = 2*x;
algorithm
end f;
function g
  input Real x;
  output Real y;
algorithm
  y := f(x);
end g;
model M
  Real y = g(time);
end M;
--- expect ---
M: no errors, 1 warning

--- assigning-to-an-input error check ---
function f
  input Real x;
  output Real y;
algorithm
  y := x;
  x := 3;
end f;
model M
  Real y = f(time);
end M;
--- expect ---
exit: 3
error: x is an input of f and cannot be assigned
--> model.mo:6:3

--- a-value-from-outside-comes-before-parts-of-the-declaration simulate --stop 0 ---
record Curve
  parameter Real v[:];
  parameter Real dp[size(v, 1)];
end Curve;
record Data
  parameter Curve pressure(v = {0, 0}, dp = {0, 0});
end Data;
model Inner
  parameter Data per;
  Real x = sum(per.pressure.v) + size(per.pressure.dp, 1);
end Inner;
model M
  parameter Data per(pressure(v = {1, 2, 3}, dp = {3, 2, 1}));
  Inner a(per(pressure = per.pressure));
  Inner b(per = per);
  Inner c;
end M;
--- expect ---
time,a.x,b.x,c.x
0.0,9.0,9.0,2.0

--- a-redeclaration-comes-before-modifiers-from-further-inside simulate --stop 0 ---
record A
  parameter Real k = 1;
end A;
record B
  extends A;
  parameter Real l = 2;
end B;
model Base
  replaceable parameter A a constrainedby A;
  Real x = a.k;
end Base;
model Line
  extends Base(a = A(k = 5));
end Line;
model M
  Line given;
  Line other(redeclare B a = B(k = 7, l = 8));
  Real l = other.a.l;
end M;
--- expect ---
time,given.x,other.x,l
0.0,5.0,7.0,8.0

--- modifiers-of-the-original-short-class-hold-for-replacements simulate --stop 0 ---
model Part
  parameter Real k = 1;
  Real x = k;
end Part;
model Twice
  extends Part(k = 2);
  Real y = 2*x;
end Twice;
model Holder
  replaceable model P = Part(k = 5);
  P p;
end Holder;
model M
  Holder a, b(redeclare model P = Twice), c(redeclare model P = Twice(k = 3));
end M;
--- expect ---
time,a.p.x,b.p.x,b.p.y,c.p.x,c.p.y
0.0,5.0,5.0,10.0,3.0,6.0

--- defaults-of-fields-use-any-other-field simulate --stop 0 ---
record R
  Real a = 1;
  Real c = b + 1;
  Real b = 2*a;
end R;
model M
  R r = R(a = 5);
end M;
--- expect ---
time,r.a,r.c,r.b
0.0,5.0,11.0,10.0

--- each-for-a-record-that-holds-an-array-of-records simulate --stop 0 ---
record Pane
  Real x = 3;
end Pane;
record Window
  Pane pane[2];
end Window;
record Wall
  Window w;
end Wall;
model M
  Window one(pane(x = {7, 8}));
  Wall wall[2](each w = one);
end M;
--- expect ---
time,one.pane[1].x,one.pane[2].x,wall[1].w.pane[1].x,wall[1].w.pane[2].x,wall[2].w.pane[1].x,wall[2].w.pane[2].x
0.0,7.0,8.0,7.0,8.0,7.0,8.0

--- a-redeclared-component-in-an-array simulate --stop 0 ---
record Cable
  Real k = 1;
end Cable;
record Thick
  extends Cable;
  Real l = 2;
end Thick;
model Line
  replaceable Cable c;
  Real x = c.k;
end Line;
model M
  Line line[2](redeclare Thick c = {Thick(k = 3), Thick(k = 4)});
  Line other[2](redeclare each Thick c = Thick(k = 5));
  Real s = sum(line.x) + 10*sum(other.x);
end M;
--- expect ---
time,line[1].c.k,line[1].c.l,line[1].x,line[2].c.k,line[2].c.l,line[2].x,other[1].c.k,other[1].c.l,other[1].x,other[2].c.k,other[2].c.l,other[2].x,s
0.0,3.0,2.0,3.0,4.0,2.0,4.0,5.0,2.0,5.0,5.0,2.0,5.0,107.0
