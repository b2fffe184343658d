Algorithms and functions (Modelica 3.6, chapters 11 and 12).

--- while-for-break-return simulate --stop 1 --intervals 1 ---
model M
  function f
    input Integer n;
    output Integer s;
  protected
    Integer i = 0;
  algorithm
    s := 0;
    while true loop
      i := i + 1;
      if i > n then
        return;
      end if;
      if mod(i,2)==0 then
        s := s + i;
      end if;
    end while;
  end f;
  Integer a = f(10);
  function g
    input Real x[:];
    output Real m;
  algorithm
    m := x[1];
    for e in x loop
      if e > m then
        m := e;
      end if;
    end for;
    for i in 1:3, j in 1:2 loop
      m := m + 0.1;
      if j == 2 then
        break;
      end if;
    end for;
  end g;
  Real b = g({1,5,2});
  Real c[3];
algorithm
  for i in 1:3 loop
    c[i] := i*time;
    if i == 2 then
      break;
    end if;
  end for;
end M;
--- expect ---
time,a,b,c[1],c[2],c[3]
0.0,30,5.599999999999998,0.0,0.0,0.0
1.0,30,5.599999999999998,1.0,2.0,0.0

--- several-results simulate --stop 1 --intervals 1 ---
model M
  function f
    input Real x;
    output Real a;
    output Real b[2];
    output Integer n=7;
  algorithm
    a := x;
    b := {x, 2*x};
  end f;
  Real a,b[2],c[2],d;
  Integer n;
  equation (a,b,n) = f(time);
  (,c) = f(2*time);
  d = f(3);
end M;
--- expect ---
time,a,b[1],b[2],c[1],c[2],d,n
0.0,0.0,0.0,0.0,0.0,0.0,3.0,7
1.0,1.0,1.0,2.0,2.0,4.0,3.0,7

--- functions-as-arguments simulate --stop 1 --intervals 1 ---
model M
  partial function F
    input Real x;
    output Real y;
  end F;
  function q
    extends F;
    input Real a=1;
  algorithm
    y := a*x^2;
  end q;
  function integ
    input F f;
    input Real b;
    output Real s;
  protected
    Integer n = 100;
  algorithm
    s := 0;
    for i in 1:n loop
      s := s + f((i-0.5)*b/n)*b/n;
    end for;
  end integ;
  Real z = integ(function q(a=3), 1);
  Real w = integ(q, 1);
  Real v = integ(f=function q(a=time), b=2);
end M;
--- expect ---
time,z,w,v
0.0,0.9999749999999998,0.333325,0.0
1.0,0.9999749999999998,0.333325,2.6666

--- sizes-from-arguments-and-from-running simulate --stop 1 --intervals 1 ---
model M
  function f
    input Real x[:];
    output Real y[size(x,1)+1];
  algorithm
    y := cat(1, x, {sum(x)});
  end f;
  Real z[4] = f({1,2,3});
  function g
    input Integer n;
    output Real y[:];
  algorithm
    y := fill(0.0, 0);
    for i in 1:n loop
      y := cat(1, y, {i});
    end for;
  end g;
  Real w[3] = g(3);
  function h
    input Real A[:,:];
    output Real s[size(A,1)];
  algorithm
    for i in 1:size(A,1) loop
      s[i] := sum(A[i,:]);
    end for;
  end h;
  Real q[2] = h([1,2;3,4]);
end M;
--- expect ---
time,z[1],z[2],z[3],z[4],w[1],w[2],w[3],q[1],q[2]
0.0,1.0,2.0,3.0,6.0,1.0,2.0,3.0,3.0,7.0
1.0,1.0,2.0,3.0,6.0,1.0,2.0,3.0,3.0,7.0

--- initial-algorithm simulate --stop 1 --intervals 1 ---
model M
  Real x(fixed=false);
  parameter Real p(fixed=false);
initial algorithm
  p := 3;
  x := 2*p;
equation
  der(x) = 0;
end M;
--- expect ---
time,x,p
0.0,6.0,3.0
1.0,6.0,3.0

--- when-in-an-algorithm simulate --stop 1 --intervals 1 ---
model M
  Integer n(start=0, fixed=true);
  discrete Real y(start=0,fixed=true);
algorithm
  when sample(0.1,0.2) then
    n := pre(n)+1;
    y := time;
  elsewhen time > 0.95 then
    y := 100;
  end when;
end M;
--- expect ---
time,n,y
0.0,0,0.0
0.1,0,0.0
0.1,1,0.1
0.30000000000000004,1,0.1
0.30000000000000004,2,0.30000000000000004
0.5,2,0.30000000000000004
0.5,3,0.5
0.7000000000000001,3,0.5
0.7000000000000001,4,0.7000000000000001
0.9,4,0.7000000000000001
0.9,5,0.9
0.95,5,0.9
0.95,5,100.0
1.0,5,100.0

--- second-partial-derivative simulate --stop 1 --intervals 1 ---
model M
  function f
    input Real x;
    input Real y;
    output Real z;
  algorithm
    z := x^2*y + sin(y);
  end f;
  function fx = der(f, x);
  function fxy = der(f, x, y);
  Real a = fx(2, 3);
  Real b = fxy(2,3);
end M;
--- expect ---
time,a,b
0.0,12.0,4.0
1.0,12.0,4.0

--- partial-derivative-of-a-function-of-arrays simulate --stop 1 --intervals 1 ---
model M
  function f
    input Real x;
    input Real a[3];
    output Real z[2];
  algorithm
    z := {a[1]*x^2, a[2]*x^3};
    for i in 1:2 loop
      z[1] := z[1] + a[3]*x;
    end for;
  end f;
  function fx = der(f, x);
  Real y[2] = fx(2, {1,1,5});
  function g
    input Real x;
    output Real y;
  protected
    Real t[2];
  algorithm
    t := fx(x, {1,2,3});
    y := t[1] + t[2];
  end g;
  Real w = g(2);
end M;
--- expect ---
time,y[1],y[2],w
0.0,14.0,12.0,34.0
1.0,14.0,12.0,34.0

--- partial-derivative-of-a-record simulate --stop 1 --intervals 1 ---
model M
  record R
    Real u;
    Real v;
  end R;
  function f
    input Real x;
    output R r;
  algorithm
    r := R(x^2, x^3);
  end f;
  function fx = der(f, x);
  R y = fx(2);
end M;
--- expect ---
time,y.u,y.v
0.0,4.0,12.0
1.0,4.0,12.0

--- partial-derivatives-inside-functions simulate --stop 1 --intervals 1 ---
// Records, arrays of open sizes, loops, recursion, several results: each against the derivative by hand at x = 1.
model M
  record R
    Real a;
    Real w[2];
  end R;
  function f
    input Real x;
    input R r;
    input Real u[:];
    output Real y;
  algorithm
    y := r.a*x^2 + r.w[2]*sin(x) + sum(u)*x^3;
  end f;
  function fx = der(f, x);
  function fxx = der(f, x, x);
  function power
    input Real x;
    input Integer n;
    output Real y;
  algorithm
    y := 1;
    for i in 1:n loop
      y := y*x;
    end for;
  end power;
  function recursive
    input Real x;
    input Integer n;
    output Real y;
  algorithm
    y := if n == 0 then 1 else x*recursive(x, n - 1);
  end recursive;
  function two
    input Real x;
    output Real a;
    output Integer i;
    output Real b;
  algorithm
    a := exp(x);
    i := 3;
    b := x^2/(1 + x);
  end two;
  function g
    input Real x;
    output Real y[4];
  protected
    Real a, b, v[3];
    Integer i;
  algorithm
    (a, i, b) := two(x);
    y[1] := a*b*i;
    for j in 1:3 loop
      v[j] := power(x, j) + recursive(x, j);
    end for;
    y[2] := v*v + sum(v[j]*j for j in 1:3);
    y[3] := max(x, 0.2) + abs(-x) + atan2(x, 2) + (2 + x)^x;
    y[4] := x;
    while i > 0 loop
      y[4] := y[4]*(1 + x/10);
      i := i - 1;
    end while;
  end g;
  function gx = der(g, x);
  function all
    input Real x;
    input R r;
    input Real u[:];
    output Real y[6];
  algorithm
    y := cat(1, {fx(x, r, u), fxx(x, r, u)}, gx(x));
  end all;
  Real y[6] = all(1 + 0*time, R(2, {7, 5}), {1, 2});
  Real e = exp(1);
equation
  assert(abs(y[1] - (4 + 5*cos(1) + 9)) < 1e-12, "first");
  assert(abs(y[2] - (4 - 5*sin(1) + 18)) < 1e-12, "second");
  assert(abs(y[3] - 3*e*(0.5 + 0.75)) < 1e-12, "several results");
  assert(abs(y[4] - (8*(1 + 2 + 3) + 2*(1 + 4 + 9))) < 1e-12, "loops and recursion");
  assert(abs(y[5] - (2 + 2/5 + 3*(log(3) + 1/3))) < 1e-12, "functions of two arguments");
  assert(abs(y[6] - (1.331 + 3*1.21*0.1)) < 1e-12, "while");
end M;
--- expect ---
time,y[1],y[2],y[3],y[4],y[5],y[6],e
0.0,15.7015115293407,17.792645075960518,10.19355685672142,76.0,6.6958368660043295,1.6940000000000006,2.718281828459045
1.0,15.7015115293407,17.792645075960518,10.19355685672142,76.0,6.6958368660043295,1.6940000000000006,2.718281828459045

--- partial-derivative-of-foreign-code-inside-a-function error check ---
model M
  function f
    input Real x;
    output Real y;
  external "C" y = foreign(x) annotation(Include = "static double foreign(double x) { return x*x; }");
  end f;
  function fx = der(f, x);
  function g
    input Real x;
    output Real y;
  algorithm
    y := fx(x);
  end g;
  Real y = g(time);
end M;
--- expect ---
exit: 3
error: the external function M.f has no derivative
--> model.mo:2:12

--- an-instant-computed-earlier-in-the-section simulate --stop 0.5 --intervals 1 ---
// A pulse as wide as the section has just computed; x and next change at events alone, though nothing declares them so.
model M
  Real x(start = 0, fixed = true);
  Real u(start = 0);
  Real next(start = 0);
algorithm
  when sample(0, 0.2) then
    u := 1 + time;
    if u + 0*x > 1.1 then
      next := time + 0.1 + 0*x;
    else
      next := time + 0.05;
    end if;
  end when;
  when time >= next then
    if u > 0.5 then
      u := 0;
    end if;
  end when;
equation
  der(x) = u;
end M;
--- expect ---
time,x,u,next
0.0,0.0,1.0,0.05
0.05,0.05,1.0,0.05
0.05,0.05,0.0,0.05
0.2,0.05,0.0,0.05
0.2,0.05,1.2,0.30000000000000004
0.30000000000000004,0.17,1.2,0.30000000000000004
0.30000000000000004,0.17,0.0,0.30000000000000004
0.4,0.17,0.0,0.30000000000000004
0.4,0.17,1.4,0.5
0.5,0.3099999999999999,1.4,0.5
0.5,0.3099999999999999,0.0,0.5

--- derivative-and-inverse-annotations simulate --stop 1 --intervals 1 ---
model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := x^2;
    annotation(derivative=df, inverse(x=finv(y)));
  end f;
  function df
    input Real x;
    input Real dx;
    output Real dy;
  algorithm
    dy := 2*x*dx;
  end df;
  function finv
    input Real y;
    output Real x;
  algorithm
    x := sqrt(y);
  end finv;
  Real y = f(time+1);
  Real dy = der(y);
end M;
--- expect ---
time,y,dy
0.0,1.0,2.0
1.0,4.0,4.0

--- a-record-with-an-integer-from-a-function error check ---
model M
  record R
    Real x;
    Integer n;
  end R;
  function f
    input Real x;
    output R r;
  algorithm
    r := R(2*x, if x > 0.5 then 2 else 1);
  end f;
  R r = f(time);
  Real y = r.n * r.x;
end M;
--- expect ---
exit: 3
error: r.n may change only at events, but this equation changes it continuously
--> model.mo:12:9

--- an-integer-from-a-function-of-time error check ---
model M
  function f
    input Real x;
    output Integer n;
  algorithm
    n := if x > 0.5 then 2 else 1;
  end f;
  Integer k = f(time);
end M;
--- expect ---
exit: 3
error: k may change only at events, but this equation changes it continuously
--> model.mo:8:15

--- missing-argument error check ---
model M
  function f
    input Real a;
    input Real b;
    output Real y = a + b;
  end f;
  Real x = f(1);
end M;
--- expect ---
exit: 3
error: the argument b of M.f is missing
--> model.mo:7:12

--- unknown-named-argument error check ---
model M
  function f
    input Real a;
    output Real y = a;
  end f;
  Real x = f(1, c = 2);
end M;
--- expect ---
exit: 3
error: M.f has no input c
--> model.mo:6:12

--- argument-given-twice error check ---
model M
  function f
    input Real a;
    input Real b = 1;
    output Real y = a;
  end f;
  Real x = f(1, a = 2, b = 3);
end M;
--- expect ---
exit: 3
error: too many arguments for M.f, which has 2 inputs
--> model.mo:7:12

--- positional-after-named error check ---
model M
  function f
    input Real a;
    input Real b = 1;
    output Real y = a;
  end f;
  Real x = f(a = 2, 3);
end M;
--- expect ---
exit: 3
error: a positional argument cannot follow named ones
--> model.mo:7:21

--- more-results-than-outputs error check ---
model M
  function f
    input Real a;
    output Real y = a;
  end f;
  Real x, z;
  equation (x, z) = f(1);
end M;
--- expect ---
exit: 3
error: 2 results are asked for, the function has 1
--> model.mo:7:12

--- partial-function-called error check ---
model M
  partial function f
    input Real a;
    output Real y;
  end f;
  Real x = f(1);
end M;
--- expect ---
exit: 3
error: M.f is partial and cannot be called
--> model.mo:2:20

--- when-in-a-function error check ---
model M
  function f
    input Real u;
    output Real y;
  algorithm
    y := 0;
    when u > 1 then
      y := 1;
    end when;
  end f;
  Real x = f(time);
end M;
--- expect ---
exit: 3
error: when cannot be used in a function
--> model.mo:7:5

--- sample-in-a-function error check ---
model M
  function f
    input Real u;
    output Boolean y;
  algorithm
    y := sample(0, 1);
  end f;
  Boolean x = f(time);
end M;
--- expect ---
exit: 3
error: sample cannot be used in a function
--> model.mo:6:10

--- delay-in-a-function error check ---
model M
  function f
    input Real u;
    output Real y;
  algorithm
    y := delay(u, 1);
  end f;
  Real x = f(time);
end M;
--- expect ---
exit: 3
error: delay cannot be used in a function
--> model.mo:6:10

--- break-outside-of-a-loop error check ---
model M
  Real x;
algorithm
  x := 1;
  break;
end M;
--- expect ---
exit: 3
error: `break` outside of a loop
--> model.mo:5:3

--- the-first-result-in-a-comprehension simulate --stop 0 ---
model M
  function f
    input Real x;
    output Real y = 2*x;
    output Real z = 3*x;
  end f;
  Real a[3] = {f(i) for i in 1:3};
  Real b[2] = array(f(v) for v in {5, 6});
end M;
--- expect ---
time,a[1],a[2],a[3],b[1],b[2]
0.0,2.0,4.0,6.0,10.0,12.0

--- a-size-from-a-function-with-a-loop simulate --stop 1 --intervals 1 ---
model M
  function f
    input Integer n;
    output Integer m;
  algorithm
    m := 1;
    for i in 1:n loop
      m := m*2;
    end for;
  end f;
  parameter Integer n = f(3);
  Real x[n] = {i for i in 1:n};
end M;
--- expect ---
time,n,x[1],x[2],x[3],x[4],x[5],x[6],x[7],x[8]
0.0,8,1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0
1.0,8,1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0

--- recursion simulate --stop 1 --intervals 1 ---
model M
  function fib
    input Integer n;
    output Integer y;
  algorithm
    y := if n < 2 then n else fib(n - 1) + fib(n - 2);
  end fib;
  Integer a = fib(12);
  parameter Integer b = fib(10);
end M;
--- expect ---
time,a,b
0.0,144,55
1.0,144,55

--- recursion-without-end error check ---
model M
  function f
    input Integer n;
    output Integer y;
  algorithm
    y := f(n + 1);
  end f;
  parameter Integer a = f(1);
  Real x[a];
end M;
--- expect ---
exit: 3
error: M.f cannot be evaluated: calls are nested too deeply (endless recursion?)
--> model.mo:8:25

--- sums-in-an-algorithm simulate --stop 1 --intervals 1 ---
model M
  parameter Integer n = 3;
  Real x[n];
  Real s;
algorithm
  s := 0;
  for i in 1:n loop
    x[i] := i*time;
    s := s + x[i];
  end for;
end M;
--- expect ---
time,n,x[1],x[2],x[3],s
0.0,3,0.0,0.0,0.0,0.0
1.0,3,1.0,2.0,3.0,6.0

--- assertion-about-a-parameter error simulate --stop 1 ---
model M
  parameter Real p = -1;
equation
  assert(p > 0, "p must be positive, not " + String(p));
end M;
--- expect ---
exit: 5
error: assertion failed at time 0.0: p must be positive, not -1
--> model.mo:4:3

--- initial-equations-for-a-parameter simulate --stop 1 --intervals 1 ---
model M
  Real x, y;
  parameter Real p(fixed = false, start = 1);
initial equation
  x = 1;
  y = 2;
  p*x = 6;
equation
  der(x) = -p*0;
  der(y) = 0;
end M;
--- expect ---
time,x,y,p
0.0,1.0,2.0,6.0
1.0,1.0,2.0,6.0

--- arrays-without-elements-in-branches-that-are-not-reached simulate --stop 1 --intervals 1 ---
model M
  parameter Boolean keep = false;
  parameter Integer n = if keep then 2 else 0;
  Real history[n], u[n] = fill(time, n);
  Integer k(start = 1);
  Real y;
algorithm
  y := time;
  if keep then
    history[k] := u[k];
    y := sum(history);
  end if;
  k := 1;
end M;
--- expect ---
time,keep,n,k,y
0.0,false,0,1,0.0
1.0,false,0,1,1.0

--- edge-and-change-of-what-the-section-assigns simulate --stop 1 --intervals 1 ---
model M
  Boolean u(start = false, fixed = true) = time >= 0.5;
  Boolean b(start = false, fixed = true), c[2](each start = false, each fixed = true);
  Integer before(start = 0, fixed = true), after(start = 0, fixed = true), m(start = 0, fixed = true);
algorithm
  if u and not change(m) then
    m := 5;
  end if;
  when u then
    before := if change(b) or edge(c[2]) then 1 else 2;
    b := true;
    c[2] := true;
    after := if edge(b) and change(c[2]) then 1 else 2;
  end when;
end M;
--- expect ---
time,u,b,c[1],c[2],before,after,m
0.0,false,false,false,false,0,0,0
0.5,false,false,false,false,0,0,0
0.5,true,true,false,true,2,1,5
1.0,true,true,false,true,2,1,5

--- what-a-subscript-reads-is-not-assigned simulate --stop 2 --intervals 2 --variables n,log[1],log[2],log[3] ---
// The events at 0.35 and 1 are found although the subscript reads time.
model M
  Integer n(start = 0, fixed = true);
  Real log[3](each start = 0, each fixed = true);
algorithm
  when time >= 0.35 then
    n := 1;
  end when;
  when sample(1, 1) then
    log[integer(time) + 1] := time;
  end when;
end M;
--- expect ---
time,n,log[1],log[2],log[3]
0.0,0,0.0,0.0,0.0
0.35,0,0.0,0.0,0.0
0.35,1,0.0,0.0,0.0
1.0,1,0.0,0.0,0.0
1.0,1,0.0,1.0,0.0
2.0,1,0.0,1.0,0.0
2.0,1,0.0,1.0,2.0

--- a-subscript-that-varies-belongs-to-other-equations simulate --stop 1 --intervals 1 ---
model M
  Integer k = integer(2*time) + 1;
  Real a[3];
algorithm
  a := zeros(3);
  a[k] := time;
end M;
--- expect ---
time,k,a[1],a[2],a[3]
0.0,1,0.0,0.0,0.0
0.5,1,0.5,0.0,0.0
0.5,2,0.0,0.5,0.0
1.0,2,0.0,1.0,0.0
1.0,3,0.0,0.0,1.0
