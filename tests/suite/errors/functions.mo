Functions that are not what the specification calls a function, and external functions that cannot be called.

--- public-variables-of-a-function error check ---
function f
  input Real x;
  output Real y;
  Real t;
algorithm
  t := 2*x;
  y := t;
end f;
model M
  Real z = f(time);
end M;
--- expect ---
exit: 3
error: t is public in a function, but neither input nor output
--> model.mo:4:8
write `protected` before the variables that only the function uses

--- an-output-without-a-value error check ---
function f
  input Real x;
  output Real y;
  output Real w;
algorithm
  y := x;
end f;
model M
  Real a, b;
equation
  (a, b) = f(time);
end M;
--- expect ---
exit: 3
error: f gives its output w no value
--> model.mo:4:15

--- a-function-without-an-algorithm error check ---
function f
  input Real x;
  output Real y;
end f;
model M
  Real z = f(time);
end M;
--- expect ---
exit: 3
error: f gives its output y no value
--> model.mo:3:15

--- outputs-with-values-of-all-kinds simulate --stop 1 --intervals 1 ---
record R
  Real a;
  Real b;
end R;
function f
  input Real x;
  output Real y = 2*x "By its declaration";
  output Real z[2] "Element by element";
  output R r(b = 5) "Field by field";
  output Real none[0] "Nothing to be given";
  output Real w "In a branch";
algorithm
  for i in 1:2 loop
    z[i] := i*x;
  end for;
  r.a := x;
  if x >= 0 then
    w := 1;
  else
    w := -1;
  end if;
end f;
model M
  Real y, z[2], n[0], w;
  R r;
equation
  (y, z, r, n, w) = f(time);
end M;
--- expect ---
time,y,z[1],z[2],w,r.a,r.b
0.0,0.0,0.0,0.0,1.0,0.0,5.0
1.0,2.0,1.0,2.0,1.0,1.0,5.0

--- sizes-of-arguments-inside-functions error check ---
function g
  input Real x[3];
  output Real y;
algorithm
  y := sum(x);
end g;
function f
  input Real x;
  output Real y;
algorithm
  y := g({x, x});
end f;
model M
  Real z = f(time);
end M;
--- expect ---
exit: 3
error: x, an input of g, has 3 elements in a dimension where the argument, of shape [2], has 2
--> model.mo:11:8

--- sizes-that-follow-other-arguments-inside-functions error check ---
function dot
  input Real a[:];
  input Real b[size(a, 1)];
  output Real y;
algorithm
  y := a*b;
end dot;
function f
  input Real x;
  output Real y;
protected
  Real p[3] = {x, x, x};
algorithm
  y := dot(p, {1, 2});
end f;
model M
  Real z = f(time);
end M;
--- expect ---
exit: 3
error: b, an input of dot, has size(a, 1) = 3 elements in a dimension where the argument, of shape [2], has 2
--> model.mo:14:8

--- an-external-language-that-is-not-known error check ---
function f
  input Real x;
  output Real y;
external "Java" y = twice(x);
end f;
model M
  Real z = f(time);
end M;
--- expect ---
exit: 3
Java

--- an-external-function-with-an-algorithm error check ---
function f
  input Real x;
  output Real y;
algorithm
  y := x;
external "C" y = sin(x);
end f;
model M
  Real z = f(time);
end M;
--- expect ---
exit: 3
error: f is an external function and cannot have an algorithm of its own
--> model.mo:1

--- a-function-with-two-algorithms error check ---
function f
  input Real x;
  output Real y;
algorithm
  y := x;
algorithm
  y := 2*y;
end f;
model M
  Real z = f(time);
end M;
--- expect ---
exit: 3
error: f is a function and cannot have two algorithms
--> model.mo:1

--- an-external-function-that-returns-into-an-input error check ---
function f
  input Real x;
  output Real y;
external "C" x = sin(y);
end f;
model M
  Real z = f(time);
end M;
--- expect ---
exit: 3
error: x is no output of this function: it cannot take a result
--> model.mo:4:14

--- an-argument-of-an-external-function-that-is-not-declared error check ---
function f
  input Real x;
  output Real y;
external "C" y = sin(q);
end f;
model M
  Real z = f(time);
end M;
--- expect ---
exit: 3
--> model.mo:4:22

--- fortran-that-nobody-has error check ---
function f
  input Real x;
  output Real y;
external "FORTRAN 77" nosuch(x, y);
end f;
model M
  Real z = f(time);
end M;
--- expect ---
exit: 3
nosuch

--- a-singular-matrix-for-lapack error simulate --stop 1 ---
function solve
  input Real A[:, size(A, 1)];
  input Real b[size(A, 1)];
  output Real x[size(A, 1)] = b;
protected
  Real LU[size(A, 1), size(A, 1)] = A;
  Integer pivots[size(A, 1)];
  Integer info;
algorithm
  (x, info) := factor(A, b);
  assert(info == 0, "the matrix is singular");
end solve;
function factor
  input Real A[:, size(A, 1)];
  input Real b[size(A, 1)];
  output Real x[size(A, 1)] = b;
  output Integer info;
protected
  Real LU[size(A, 1), size(A, 1)] = A;
  Integer pivots[size(A, 1)];
external "FORTRAN 77" dgesv(size(A, 1), 1, LU, size(A, 1), pivots, x, size(A, 1), info);
end factor;
model M
  Real x[2] = solve({{1, 2}, {2, 4}}, {time, 1});
end M;
--- expect ---
exit: 5
the matrix is singular

--- a-resource-of-an-unknown-library error check ---
package ModelicaServices
  package ExternalReferences
    function loadResource
      input String uri;
      output String fileName;
    algorithm
      fileName := uri;
    end loadResource;
  end ExternalReferences;
end ModelicaServices;
model M
  parameter String file = ModelicaServices.ExternalReferences.loadResource("modelica://Nowhere/Resources/a.txt");
end M;
--- expect ---
exit: 3
error: the library Nowhere of modelica://Nowhere/Resources/a.txt is not known
--> model.mo:12

--- a-resource-that-is-not-there error check ---
package ModelicaServices
  package ExternalReferences
    function loadResource
      input String uri;
      output String fileName;
    algorithm
      fileName := uri;
    end loadResource;
  end ExternalReferences;
end ModelicaServices;
function countLines
  input String fileName;
  output Integer n;
external "C" n = ModelicaInternal_countLines(fileName);
end countLines;
model M
  parameter String file = ModelicaServices.ExternalReferences.loadResource("modelica://M/nothing.txt");
  parameter Integer n = countLines(file);
  Real x[n];
end M;
--- expect ---
exit: 3
nothing.txt

--- a-size-that-nothing-declares error check ---
function f
  input Integer n;
  output Real y[m];
algorithm
  y := ones(n);
end f;
model M
  Real a[2] = f(2);
end M;

--- expect ---
exit: 3
error: m is not
--> model.mo:3:17

--- pure-functions-call-pure-functions error check ---
impure function now
  output Real y;
external "C" y = sqrt(4.0);
end now;
pure function f
  input Real x;
  output Real y;
algorithm
  y := x + now();
end f;
model M
  Real y = f(time);
end M;

--- expect ---
exit: 3
error: f calls the impure function now, but is not declared impure
--> model.mo:9:12

--- outputs-that-only-some-branches-assign error check ---
// h leaves by an error, k by a loop, and e is one of its two values; they say nothing.
function f
  input Real x;
  output Real y;
algorithm
  if x > 1 then
    y := 1;
  elseif x > 0 then
    y := 2;
  end if;
end f;
function h
  input Real x;
  output Real y;
algorithm
  if x > -1 then
    y := 1;
  else
    assert(false, "x is too small");
  end if;
end h;
function k
  input Real v[:];
  output Integer y;
algorithm
  for i in 1:size(v, 1) loop
    if v[i] > 0 then
      y := i;
      return;
    end if;
  end for;
  y := 0;
end k;
type E = enumeration(low, high);
function l
  input E e;
  output Real y;
algorithm
  if e == E.low then
    y := 1;
  elseif e == E.high then
    y := 2;
  end if;
end l;
model M
  Real y = f(time) + h(time) + k({time, 1}) + l(if time > 1 then E.low else E.high);
end M;

--- expect ---
exit: 0
warning: not every branch of f gives its output y a value
--> model.mo:4:15
assign it before the branches, or in an else

--- functions-see-constants-of-the-classes-around-them error check ---
model M
  constant Real c = 2;
  parameter Real p = 3;
  function f
    input Real x;
    output Real y = c*x;
  algorithm
  end f;
  function g
    input Real x;
    output Real y = p*x;
  algorithm
  end g;
  Real a = f(1);
  Real b = g(1);
end M;

--- expect ---
exit: 3
error: p is a parameter of an enclosing class: functions see constants only
--> model.mo:11:21

--- languages-that-can-be-called error check ---
function f
  input Real x;
  output Real y;
external "Pascal" y = sin(x);
end f;
model M
  Real y = f(1);
end M;

--- expect ---
exit: 3
error: there is no way to call functions of the language Pascal
--> model.mo:4:1

--- what-says-how-a-function-is-used error check ---
function f
  input Real x;
  output Real y = x^2;
algorithm
  annotation(Inline = 1, LateInline = "no", smoothOrder = -1);
end f;
function g
  input Real x;
  output Real y = x^2;
algorithm
  annotation(Inline = true, LateInline = false, smoothOrder = 2, GenerateEvents = false);
end g;
model M
  Real y = f(time) + g(time);
end M;

--- expect ---
exit: 0
warning: Inline is of type Boolean, so this says nothing
--> model.mo:5:14
warning: LateInline is of type Boolean, so this says nothing
--> model.mo:5:26
warning: smoothOrder is an Integer that is not negative, so this says nothing
--> model.mo:5:45

--- a-protected-variable-without-a-value error check ---
function f
  input Real x;
  output Real y;
protected
  Real forgotten, known = 2;
  Real unused;
algorithm
  y := x + forgotten*known;
end f;
model M
  Real y = f(time);
end M;

--- expect ---
exit: 0
warning: f reads forgotten, which has no value
--> model.mo:5:8

--- a-function-without-a-result-is-no-value error check ---
function count
  input Real u;
algorithm
end count;
model M
  Real y = 2*count(time) + 1;
end M;

--- expect ---
exit: 3
this function has no result: its call is no value
--> model.mo:6:14

--- an-integer-result-that-moves-is-read error check ---
function f
  input Real x;
  output Real y;
  output Integer n;
algorithm
  y := x;
  n := 0;
  while y < 1 loop
    y := 2*y + 0.01;
    n := n + 1;
  end while;
end f;
model M
  Real y, z;
  Integer n;
equation
  (y, n) = f(time);
  z = 2*n;
end M;

--- expect ---
exit: 3
n may change only at events, but this equation changes it continuously
--> model.mo:17:3

--- a-result-with-too-many-elements error check ---
function f
  input Real x;
  output Real m[2, 1000000000];
algorithm
  m := fill(x, 2, 1000000000);
end f;
model M
  Real y = sum(f(time));
end M;

--- expect ---
exit: 3
error: a result of f has 2000000000 elements: that is too many
--> model.mo:8:16
