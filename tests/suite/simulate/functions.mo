Functions as values, derivatives of functions, operator records; the values are known.

--- partial-application simulate --stop 1 --intervals 1 ---
partial function Integrand
  input Real u;
  output Real y;
end Integrand;
function quadrature
  input Integer n;
  input Real a;
  input Real b;
  input Integrand f;
  output Real q;
protected
  Real h = (b - a)/n;
algorithm
  q := 0;
  for i in 1:n loop
    q := q + h*f(a + (i - 0.5)*h);
  end for;
end quadrature;
function line
  extends Integrand;
  input Real k = 1;
  input Real c = 0;
algorithm
  y := k*u + c;
end line;
model M
  Real q = quadrature(4, 0, 2, function line(k = 3, c = time));
end M;
--- expect ---
time,q
0.0,6.0
1.0,8.0

--- der-of-a-function simulate --stop 1 --intervals 1 ---
function f
  input Real x;
  input Real z;
  output Real y;
algorithm
  y := x^3*z;
end f;
function fx = der(f, x);
function fxz = der(f, x, z);
model M
  Real a = fx(2 + time, 5);
  Real b = fxz(2 + time, 5);
  Real c = fx(z = time, x = 1);
end M;
--- expect ---
time,a,b,c
0.0,60.0,12.0,0.0
1.0,135.0,27.0,3.0

--- operator-record simulate --stop 1 --intervals 1 ---
operator record V "Vectors of the plane"
  Real x;
  Real y;
  encapsulated operator 'constructor'
    function fromReals
      import V;
      input Real x;
      input Real y = 0;
      output V r(x = x, y = y);
    algorithm
    end fromReals;
  end 'constructor';
  encapsulated operator function '+'
    import V;
    input V a;
    input V b;
    output V c;
  algorithm
    c := V(a.x + b.x, a.y + b.y);
  end '+';
  encapsulated operator '-'
    function subtract
      import V;
      input V a;
      input V b;
      output V c;
    algorithm
      c := V(a.x - b.x, a.y - b.y);
    end subtract;
    function negate
      import V;
      input V a;
      output V c;
    algorithm
      c := V(-a.x, -a.y);
    end negate;
  end '-';
  encapsulated operator '*'
    function scale
      import V;
      input V a;
      input Real k;
      output V c;
    algorithm
      c := V(k*a.x, k*a.y);
    end scale;
    function dot
      import V;
      input V a;
      input V b;
      output Real s;
    algorithm
      s := a.x*b.x + a.y*b.y;
    end dot;
  end '*';
  encapsulated operator function '=='
    import V;
    input V a;
    input V b;
    output Boolean same;
  algorithm
    same := a.x == b.x and a.y == b.y;
  end '==';
end V;
model M
  V a = V(1, time);
  V b = V(2);
  V c = a + b;
  V d = c*3;
  Real s = a*b;
  V e = a - b;
  Boolean same = V(1, 2) == V(1, 2);
end M;
--- expect ---
time,a.x,a.y,b.x,b.y,c.x,c.y,d.x,d.y,s,e.x,e.y,same
0.0,1.0,0.0,2.0,0.0,3.0,0.0,9.0,0.0,2.0,-1.0,0.0,true
1.0,1.0,1.0,2.0,0.0,3.0,1.0,9.0,3.0,2.0,-1.0,1.0,true

--- der-by-an-unknown-input error check ---
function f
  input Real x;
  output Real y;
algorithm
  y := x^2;
end f;
function g = der(f, z);
model M
  Real a = g(time);
end M;
--- expect ---
exit: 3
f has no input z

--- sizes-of-given-inputs-not-of-their-defaults simulate --stop 1 --intervals 1 ---
function f
  input Real c[:] = {1, 2};
  output Real y;
protected
  Real t[size(c, 1)], u[size(c, 1) + 1] = fill(1, size(c, 1) + 1);
algorithm
  for i in 1:size(t, 1) loop
    t[i] := c[i];
  end for;
  y := sum(t) + 100*size(t, 1) + 1000*sum(u);
end f;
function g
  input Integer n = 3;
  output Real y;
protected
  Real t[n] = fill(1, n);
algorithm
  y := sum(t);
end g;
record R
  Real v[:] = {1, 2};
end R;
function h
  input R r;
  output Real y;
protected
  Real t[size(r.v, 1)];
algorithm
  t := r.v;
  y := sum(t) + 100*size(t, 1);
end h;
model M
  Real default = f(), given = f({1, 2, 3}), moving = f({time, 2, 3, 5});
  Real three = g(), five = g(5);
  R r(v = {1, 2, time, 4});
  Real fields = h(r);
end M;
--- expect ---
time,default,given,moving,three,five,r.v[1],r.v[2],r.v[3],r.v[4],fields
0.0,3203.0,4306.0,5410.0,3.0,5.0,1.0,2.0,0.0,4.0,407.0
1.0,3203.0,4306.0,5411.0,3.0,5.0,1.0,2.0,1.0,4.0,408.0

--- results-that-are-no-reals-follow-continuously simulate --stop 1 --intervals 5 ---
function f
  input Real x;
  output Integer n;
  output Real y;
protected
  Real z;
algorithm
  n := 0;
  z := x;
  while z < 1 loop
    z := 2*z + 0.01;
    n := n + 1;
  end while;
  y := z;
end f;
model M
  Integer n;
  Real y;
equation
  (n, y) = f(time);
end M;
--- expect ---
time,n,y
0.0,7,1.27
0.2,3,1.6700000000000002
0.4,2,1.6300000000000001
0.6,1,1.21
0.8,1,1.61
1.0,0,1.0
