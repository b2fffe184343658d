Records in functions and algorithms; the values are known.

--- a-record-that-reads-itself simulate --stop 1 --intervals 1 ---
record S
  Real x;
  Real v;
end S;
function step
  input S s;
  output S r;
algorithm
  r := S(s.v, s.x);
  r := S(r.v, r.x + 10);
end step;
function twice
  input Real t;
  output Real a;
  output Real b;
protected
  S s[2];
algorithm
  s := {S(t, 2), S(3, 4)};
  for k in 1:3 loop
    s[1] := S(s[1].v, s[1].x);
  end for;
  s[2] := step(s[2]);
  a := s[1].x + 100*s[2].x;
  b := s[1].v + 100*s[2].v;
end twice;
model M
  S s;
  S p;
  Real a;
  Real b;
  parameter Real one = 1;
  parameter S q = step(S(one, 2));
  Real u = 10*q.x + q.v;
algorithm
  s := S(time, 5);
  s := S(s.v, s.x);
algorithm
  p := S(time, 7);
  p := step(p);
equation
  (a, b) = twice(time);
end M;

--- expect ---
time,s.x,s.v,p.x,p.v,a,b,one,u
0.0,5.0,0.0,0.0,17.0,302.0,1400.0,1.0,22.0
1.0,5.0,1.0,1.0,17.0,302.0,1401.0,1.0,22.0

--- complex-numbers-that-read-themselves simulate --stop 1 --intervals 1 ---
operator record Complex
  Real re;
  Real im;
  encapsulated operator 'constructor'
    function fromReal
      import Complex;
      input Real re;
      input Real im = 0;
      output Complex result(re = re, im = im);
    algorithm
    end fromReal;
  end 'constructor';
end Complex;
function power
  input Complex u;
  output Complex z;
algorithm
  z := u;
  for k in 1:2 loop
    z := z*z;
  end for;
end power;
model M
  Complex z = power(Complex(1, 2*time));
  Complex w;
algorithm
  w := Complex(1, 2*time);
  w := w*w;
end M;

--- expect ---
time,z.re,z.im,w.re,w.im
0.0,1.0,0.0,1.0,0.0
1.0,-7.0,-24.0,-3.0,4.0

--- arrays-of-records-from-functions simulate --stop 1 --intervals 1 ---
record P
  Real x;
  Real y;
end P;
record Q
  P p[2];
  Integer n;
end Q;
function f
  input Real t;
  output P a[2];
  output Real s;
algorithm
  a := {P(t, 2), P(3, 4)};
  s := t;
end f;
function g
  input Real t;
  output Q q;
algorithm
  q.p := {P(t, 2), P(3, 4)};
  q.n := 7;
end g;
function opaque "Too long to be taken apart"
  input Real t;
  output P a[2];
protected
  Real s = 0;
  Integer k = 0;
algorithm
  while k < 10 + t loop
    s := s + 1;
    k := k + 1;
  end while;
  a := {P(t, 2), P(s, 4)};
end opaque;
model M
  P a[2] = f(time);
  P b[2];
  Q q = g(time);
  P c[2] = opaque(time);
  discrete P d[2];
  parameter Real t = 6;
  parameter P e[2] = f(t);
  Real u = 10*e[1].y + e[2].x;
  Real s;
equation
  (b, s) = f(time);
  when time > 0.5 then
    d = opaque(time);
  end when;
end M;

--- expect ---
time,a[1].x,a[1].y,a[2].x,a[2].y,b[1].x,b[1].y,b[2].x,b[2].y,q.p[1].x,q.p[1].y,q.p[2].x,q.p[2].y,q.n,c[1].x,c[1].y,c[2].x,c[2].y,d[1].x,d[1].y,d[2].x,d[2].y,t,u,s
0.0,0.0,2.0,3.0,4.0,0.0,2.0,3.0,4.0,0.0,2.0,3.0,4.0,7,0.0,2.0,10.0,4.0,0.0,0.0,0.0,0.0,6.0,23.0,0.0
0.5,0.5,2.0,3.0,4.0,0.5,2.0,3.0,4.0,0.5,2.0,3.0,4.0,7,0.5,2.0,11.0,4.0,0.0,0.0,0.0,0.0,6.0,23.0,0.5
0.5,0.5,2.0,3.0,4.0,0.5,2.0,3.0,4.0,0.5,2.0,3.0,4.0,7,0.5,2.0,11.0,4.0,0.5,2.0,11.0,4.0,6.0,23.0,0.5
1.0,1.0,2.0,3.0,4.0,1.0,2.0,3.0,4.0,1.0,2.0,3.0,4.0,7,1.0,2.0,11.0,4.0,0.5,2.0,11.0,4.0,6.0,23.0,1.0

--- text-in-functions simulate --stop 1 --intervals 1 ---
type E = enumeration(one, two);
function f
  input Real x;
  input Integer n;
  input Boolean b;
  input E e;
  output String s;
algorithm
  s := String(x, format = ".2f") + "|" + String(n, 4) + "|" + String(b, minimumLength = 6) + "|" + String(e, 5, false) + "|" + String(b);
end f;
model M
  String s = f(if time > 0.5 then 2.5 else 1.25, 3, time > 0.5, if time > 0.5 then E.two else E.one);
  Boolean early = s == "1.25|3   |false |  one|false";
  Boolean late = s == "2.50|3   |true  |  two|true";
end M;
--- expect ---
time,early,late
0.0,true,false
0.5,true,false
0.5,false,true
1.0,false,true

--- each-with-an-array-of-records simulate --stop 1 --intervals 1 ---
record P
  Real x;
  Real y;
end P;
model A
  parameter P p[2];
  Real o = p[1].y + 10*p[2].x;
end A;
model M
  parameter P q[2] = {P(5, 6), P(7, 8)};
  A b[2](each p = q);
end M;

--- expect ---
time,b[1].o,b[2].o
0.0,76.0,76.0
1.0,76.0,76.0

--- constructors-over-arrays simulate --stop 1 --intervals 1 ---
record A
  Real x;
  Real y;
  Real z = x + 1;
end A;
function f
  input Real t;
  output Real s;
protected
  A a[2];
algorithm
  a := A({t, 2}, 3);
  s := a[1].x + 10*a[2].x + 100*a[2].y + 1000*a[2].z;
end f;
model M
  A c[2] = A({1, 2}, {3, 4});
  A d[2] = A({1, time}, 5);
  Real s = f(time);
end M;

--- expect ---
time,c[1].x,c[1].y,c[1].z,c[2].x,c[2].y,c[2].z,d[1].x,d[1].y,d[1].z,d[2].x,d[2].y,d[2].z,s
0.0,1.0,3.0,2.0,2.0,4.0,3.0,1.0,5.0,2.0,0.0,5.0,1.0,3320.0
1.0,1.0,3.0,2.0,2.0,4.0,3.0,1.0,5.0,2.0,1.0,5.0,2.0,3321.0

--- fields-a-constructor-takes simulate --stop 1 --intervals 1 ---
record R
  constant Real c1 = 2;
  constant Real c2;
  final parameter Real p = 3;
  Real x;
end R;
function f
  input Real t;
  output Real y;
protected
  R r;
algorithm
  r := R(7, t);
  y := r.x + 10*r.c2 + 100*r.c1 + 1000*r.p;
end f;
model M
  R r = R(7, time);
  Real y = f(time);
end M;

--- expect ---
time,r.x,y
0.0,0.0,3270.0
1.0,1.0,3271.0

--- a-model-as-a-record simulate --stop 1 --intervals 1 ---
record S
  Boolean b;
  Real x;
end S;
record R
  Real r;
  S s;
end R;
model A
  model Sub
    Boolean b = true;
    Real q = 4;
    Real x = 5*time;
  end Sub;
  Real q = 3;
  Real r = 2;
  Sub s;
end A;
model M
  A m[2];
  R r[2] = R(m);
  R q = R(m[1]);
end M;

--- expect ---
time,m[1].q,m[1].r,m[1].s.b,m[1].s.q,m[1].s.x,m[2].q,m[2].r,m[2].s.b,m[2].s.q,m[2].s.x,r[1].r,r[1].s.b,r[1].s.x,r[2].r,r[2].s.b,r[2].s.x,q.r,q.s.b,q.s.x
0.0,3.0,2.0,true,4.0,0.0,3.0,2.0,true,4.0,0.0,2.0,true,0.0,2.0,true,0.0,2.0,true,0.0
1.0,3.0,2.0,true,4.0,5.0,3.0,2.0,true,4.0,5.0,2.0,true,5.0,2.0,true,5.0,2.0,true,5.0

--- enumerations-in-functions simulate --stop 1 --intervals 1 ---
type E = enumeration(a, b, c);
function f
  input Real x;
  output Real y;
  output Real n[E];
  output Real m[Boolean];
protected
  E e;
algorithm
  e := E(2);
  y := Integer(e)*x;
  n[E.a] := 1;
  n[e] := y;
  n[E.c] := 3;
  m[false] := 4;
  m[true] := 5;
end f;
model M
  Real y;
  Real n[E];
  Real m[Boolean];
equation
  (y, n, m) = f(time);
end M;

--- expect ---
time,y,n[1],n[2],n[3],m[1],m[2]
0.0,0.0,1.0,0.0,3.0,4.0,5.0
1.0,2.0,1.0,2.0,3.0,4.0,5.0

--- modified-records-in-functions simulate --stop 1 --intervals 1 ---
record R
  Real a = 3;
  Real b = 2*a;
end R;
function f
  input Real x;
  output R q(a = x);
algorithm
end f;
model M
  R r = f(time);
end M;

--- expect ---
time,r.a,r.b
0.0,0.0,0.0
1.0,1.0,2.0

--- function-inputs-with-functions simulate --stop 1 --intervals 1 ---
partial function F
  input Real x;
  output Real y;
end F;
function square
  extends F;
algorithm
  y := x^2;
end square;
function line
  input Real x;
  input Real k;
  output Real y;
algorithm
  y := k*x;
end line;
function twice
  input Real x;
  input F f;
  output Real y;
algorithm
  y := f(f(x));
end twice;
function apply
  input Real x;
  input F f = square;
  output Real y;
algorithm
  y := f(x);
end apply;
function inside
  input Real x;
  output Real y;
algorithm
  y := apply(x, function twice(f = function line(k = 2))) + apply(x);
end inside;
model M
  Real a = apply(3*time);
  Real b = apply(2*time, function twice(f = function line(k = 3)));
  Real c = inside(time);
end M;

--- expect ---
time,a,b,c
0.0,0.0,0.0,0.0
1.0,9.0,18.0,5.0

--- operators-with-one-argument simulate --stop 1 --intervals 1 ---
operator record B
  Real v;
  encapsulated operator function 'not'
    import B;
    input B a;
    output Boolean r;
  algorithm
    r := a.v <= 0;
  end 'not';
  encapsulated operator function '-'
    import B;
    input B a;
    output B r;
  algorithm
    r.v := 1 - a.v;
  end '-';
end B;
function f
  input B b;
  output Real y;
protected
  B c;
algorithm
  c := -b;
  y := c.v + (if not b then 10 else 20);
end f;
model M
  B b(v = 4);
  B c = -b;
  Boolean d = not B(4);
  Real y = f(B(time));
end M;

--- expect ---
time,b.v,c.v,d,y
0.0,4.0,-3.0,false,11.0
1.0,4.0,-3.0,false,20.0

--- an-array-type-with-modifiers simulate --stop 1 --intervals 1 ---
model A
  parameter Real p = 0;
  Real y = p;
end A;
model A3 = A[3](p = {1, 2, 3});
model M
  A3 a;
  A3 b[2](p = {{4, 5, 6}, {7, 8, 9}});
end M;

--- expect ---
time,a[1].y,a[2].y,a[3].y,"b[1,1].y","b[1,2].y","b[1,3].y","b[2,1].y","b[2,2].y","b[2,3].y"
0.0,1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0
1.0,1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0

--- subscripts-that-vary simulate --stop 1 --intervals 1 ---
model M
  Real a[3] = {1, 2, 3}*time;
  Real A[2, 3] = [1, 2, 3; 4, 5, 6]*time;
  Integer k[2] = if time > 0.5 then {2, 3} else {1, 2};
  Real b[2] = a[k];
  Real B[2, 2] = A[:, k];
end M;

--- expect ---
time,a[1],a[2],a[3],"A[1,1]","A[1,2]","A[1,3]","A[2,1]","A[2,2]","A[2,3]",k[1],k[2],b[1],b[2],"B[1,1]","B[1,2]","B[2,1]","B[2,2]"
0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1,2,0.0,0.0,0.0,0.0,0.0,0.0
0.5,0.5,1.0,1.5,0.5,1.0,1.5,2.0,2.5,3.0,1,2,0.5,1.0,0.5,1.0,2.0,2.5
0.5,0.5,1.0,1.5,0.5,1.0,1.5,2.0,2.5,3.0,2,3,1.0,1.5,1.0,1.5,2.5,3.0
1.0,1.0,2.0,3.0,1.0,2.0,3.0,4.0,5.0,6.0,2,3,2.0,3.0,2.0,3.0,5.0,6.0

--- a-subscript-that-is-real error check ---
model M
  Real a[2] = {1, 2};
  Real b = a[2.0];
end M;
--- expect ---
exit: 3
model.mo:3
a subscript must be an Integer or a vector of Integers, not Real

--- a-size-from-a-field-beside-one-of-that-size simulate --stop 0 ---
// Of the constructor only the argument for n is needed to know the size of the other one.
record R
  Integer n = 1;
  Real v[n];
end R;
model M
  parameter R r = R(n = 3, v = w);
  parameter Integer n = r.n;
  final parameter Real w[n] = {2*i for i in 1:n};
  Real s = sum(r.v);
end M;
--- expect ---
time,n,w[1],w[2],w[3],s
0.0,3,2.0,4.0,6.0,12.0

--- fields-of-two-records-that-need-each-other simulate --stop 0 ---
// h.cp needs the temperature of d alone: 8; the flow of d is 10/8.
record D
  parameter Real T = 300;
  parameter Real Q = 10;
  parameter Real m = 1;
end D;
model H
  parameter D dat;
  final parameter Real T = dat.T;
  parameter Real cp = 4*T/300;
  parameter Integer n = integer(cp);
  Real x[n] = fill(dat.m, n);
  Real s = sum(x);
end H;
model M
  parameter D d(T = 600, m = d.Q/h.cp);
  H h(dat = d);
  Real y = h.s;
end M;
--- expect ---
time,h.x[1],h.x[2],h.x[3],h.x[4],h.x[5],h.x[6],h.x[7],h.x[8],h.s,y
0.0,1.25,1.25,1.25,1.25,1.25,1.25,1.25,1.25,10.0,10.0

--- fields-further-down-that-need-each-other simulate --stop 0 ---
// The plant's configuration needs the temperature of its data, whose configuration is that of the plant: field by field there
// is no cycle.
model M
  record Configuration
    parameter Integer n;
    parameter Real rho;
  end Configuration;
  record Control
    parameter Configuration cfg;
    parameter Real T;
    parameter Real V = cfg.n*10;
  end Control;
  record Data
    parameter Configuration cfg;
    parameter Control control(final cfg = cfg);
    parameter Real m = control.V*cfg.rho;
  end Data;
  model Plant
    parameter Data dat;
    final parameter Real T = dat.control.T;
    parameter Configuration cfg(final n = 2, final rho = 1000 - T) annotation(Evaluate = true);
    Real x[cfg.n] = fill(dat.m, cfg.n);
    parameter Integer count = integer(cfg.rho/100);
    Real z[count] = fill(time, count);
  end Plant;
  parameter Data all(cfg = plant.cfg, control(T = 300));
  Plant plant(final dat = all);
  Integer size_z = size(plant.z, 1);
end M;
--- expect ---
time,plant.x[1],plant.x[2],plant.z[1],plant.z[2],plant.z[3],plant.z[4],plant.z[5],plant.z[6],plant.z[7],size_z
0.0,14000.0,14000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,7

--- a-redeclared-field-of-a-record-with-a-value flatten ---
// The class that takes the place of the field redeclares a field of its own.
package P
  record Nominal
    parameter Real q = 1;
  end Nominal;
  record WaterNominal
    extends Nominal;
    parameter Real m = 2;
  end WaterNominal;
  record Stage
    replaceable parameter Nominal nominal;
  end Stage;
  record WaterStage
    extends Stage(redeclare parameter WaterNominal nominal);
  end WaterStage;
  record Coil
    parameter Integer n;
    replaceable parameter Stage stages[n];
  end Coil;
  record WaterCoil
    extends Coil(redeclare parameter WaterStage stages[n]);
  end WaterCoil;
  model Heater
    parameter WaterCoil coil;
    parameter Real y = coil.stages[coil.n].nominal.m;
  end Heater;
  model M
    Heater heater(coil = coil);
    parameter WaterCoil coil(n = 1, stages = {WaterStage(nominal = WaterNominal(q = 5, m = 7))});
  end M;
end P;
--- expect ---
model P.M
  parameter Integer heater.coil.n = 1;
  parameter Real heater.coil.stages[1].nominal.q = coil.stages[1].nominal.q;
  parameter Real heater.coil.stages[1].nominal.m = coil.stages[1].nominal.m;
  parameter Real heater.y = heater.coil.stages[1].nominal.m;
  parameter Integer coil.n = 1;
  parameter Real coil.stages[1].nominal.q = 5;
  parameter Real coil.stages[1].nominal.m = 7;
equation
end P.M;

--- an-argument-with-more-elements-than-said simulate --stop 1 --intervals 1 ---
// Told as a warning: the function looks at no more than it was told of.
function f
  input Integer n;
  input Real x[n];
  output Real y;
algorithm
  y := 0;
  for i in 1:n loop
    y := y + x[i];
  end for;
end f;
model M
  Real y = f(2, {time, 2, 3});
end M;
--- expect ---
time,y
0.0,2.0
1.0,3.0
