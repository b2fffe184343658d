Functions run long enough to become machine code; what goes wrong inside is told as if they had not.

--- a-loop-over-many-elements simulate --stop 1 --intervals 2 ---
model M
  function f
    input Integer n;
    input Real a;
    output Real y;
  protected
    Real x[n];
  algorithm
    for i in 1:n loop
      x[i] := a*i;
    end for;
    y := sum(x)/n;
  end f;
  Real y = f(100001, 1 + time);
end M;
--- expect ---
time,y
0.0,50001.0
0.5,75001.5
1.0,100002.0

--- a-matrix-and-a-record simulate --stop 1 --intervals 2 ---
model M
  record State
    Real p;
    Real[3] v;
  end State;
  function advance
    input State s;
    input Real h;
    output State r;
  protected
    Real A[3, 3];
  algorithm
    A := identity(3) + h*skew({1, 2, 3});
    r.p := s.p + h*s.v*s.v;
    r.v := A*s.v;
  end advance;
  function many
    input Integer n;
    input Real x;
    output Real p;
    output Real v[3];
  protected
    State s;
  algorithm
    s := State(p = x, v = {1, 0, x});
    for i in 1:n loop
      s := advance(s, 1/n);
    end for;
    p := s.p;
    v := s.v;
  end many;
  Real p;
  Real v[3];
equation
  (p, v) = many(2000, time);
end M;
--- expect ---
time,p,v[1],v[2],v[3]
0.0,1.003255960211691,-0.6976097712388776,-0.19317779652108472,0.6946551214270156
0.5,1.7528176578755001,-0.6531812308972588,0.27430305962701446,0.8681917038810766
1.0,3.003005501733857,-0.6087526905556386,0.7417839157751065,1.0417282863351403

--- recursion simulate --stop 1 --intervals 1 ---
model M
  function fibonacci
    input Real n;
    output Real y;
  algorithm
    y := if n < 2 then n else fibonacci(n - 1) + fibonacci(n - 2);
  end fibonacci;
  Real y = fibonacci(20 + time);
end M;
--- expect ---
time,y
0.0,6765.0
1.0,10946.0

--- an-assertion-in-a-hot-function error simulate --stop 2 ---
model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := 0;
    for i in 1:2000 loop
      assert(x < 1.5, "x is " + String(x) + ", too large");
      y := y + sqrt(x + i);
    end for;
  end f;
  Real x(start = 0, fixed = true);
  Real y = f(x);
equation
  der(x) = 1;
end M;
--- expect ---
exit: 6
x is 1.5, too large
--> model.mo:8:7

--- a-subscript-out-of-range error simulate --stop 4 ---
model M
  function f
    input Real x;
    output Real y;
  protected
    Real a[3] = {1, 2, 3};
  algorithm
    y := 0;
    for i in 1:5000 loop
      y := y + a[integer(x) + 1];
    end for;
  end f;
  Real x(start = 0, fixed = true);
  Real y = f(x);
equation
  der(x) = 1;
end M;
--- expect ---
exit: 6
subscript 1 of a is 4, which is not between 1 and 3
--> model.mo:10:7

--- the-derivative-of-a-loop simulate --stop 1 --intervals 2 ---
model M
  function cube "by a loop that cannot be inlined"
    input Real x;
    output Real y;
  protected
    Real k;
  algorithm
    y := 1;
    k := 3;
    while k > 0 loop
      y := y*x;
      k := k - 1;
    end while;
  end cube;
  Real x(start = 1);
equation
  cube(x) = 1 + 7*time;
end M;
--- expect ---
time,x
0.0,1.0
0.5,1.6509636244473134
1.0,2.0
