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
