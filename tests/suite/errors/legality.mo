What the specification forbids, beyond types: names, modifiers, arguments of built-in functions.

--- two-classes-of-one-name error check ---
model A
  Real x = time;
end A;
model A
  Real x = 2*time;
end A;
model M
  A a;
end M;
--- expect ---
exit: 3
error: there are two classes called A in this file
--> model.mo:4:7
the other one stands here

--- one-name-imported-twice error check ---
package P
  package Q
    constant Real c = 1;
  end Q;
  package R
    constant Real c = 2;
  end R;
  model M
    import P.Q.c;
    import P.R.c;
    Real x = c*time;
  end M;
end P;
--- expect ---
exit: 3
error: c is imported twice in P.M, with different meanings
--> model.mo:10:5

--- ambiguous-import error check ---
package P
  package Q
    constant Real c = 1;
  end Q;
  package R
    constant Real c = 2;
    constant Real d = 2;
  end R;
  model M
    import P.Q.*;
    import P.R.*;
    Real x = c*time;
  end M;
end P;
--- expect ---
exit: 3
error: c is ambiguous: both P.Q and P.R, imported as a whole, have it
--> model.mo:9:9

--- ambiguity-that-nothing-meets check ---
package P
  package Q
    constant Real c = 1;
  end Q;
  package R
    constant Real c = 2;
    constant Real d = 2;
  end R;
  model M
    import P.Q.*;
    import P.R.*;
    Real x = d*time;
  end M;
end P;
--- expect ---
P.M: no errors

--- import-that-leads-nowhere check ---
model M
  import Nowhere.Thing;
  Real x = time;
end M;
--- expect ---
M: no errors, 1 warning

--- modified-twice-by-a-dotted-name error check ---
model C
  parameter Real p(min = 0) = 1;
end C;
model M
  C c(p(min = 1), p.min = 2);
end M;
--- expect ---
exit: 3
error: p.min is modified twice
--> model.mo:5:19

--- size-of-an-argument error check ---
function f
  input Real A[:, :];
  input Real b[size(A, 1)];
  output Real y;
algorithm
  y := sum(b) + A[1, 1];
end f;
model M
  Real y = f({{1, 2}, {3, 4}}, {1, 2, time});
end M;
--- expect ---
exit: 3
error: b, an input of f, has size(A, 1) = 2 elements in a dimension where the argument, of shape [3], has 3
--> model.mo:9:12
declared here

--- size-of-an-argument-by-number error check ---
function f
  input Integer n;
  input Real b[n];
  output Real y;
algorithm
  y := sum(b);
end f;
model M
  Real y = f(3, {1, time});
end M;
--- expect ---
exit: 3
error: b, an input of f, has n = 3 elements in a dimension where the argument, of shape [2], has 2
--> model.mo:9:12

--- boolean-subscript error check ---
model M
  Real a[2] = {1, time};
  Real y = a[true];
end M;
--- expect ---
exit: 3
error: the subscript is a Boolean, but this dimension is not declared by that type
--> model.mo:3:14

--- enumeration-subscript error check ---
model M
  type E = enumeration(u, v);
  Real a[2] = {1, time};
  Real b[E] = {1, time};
  Real c[Boolean] = {1, time};
  Real y = a[E.u] + b[E.u] + c[false];
end M;
--- expect ---
exit: 3
error: the subscript is a M.E, but this dimension is not declared by that type
--> model.mo:6:14

--- smooth-of-no-order error check ---
model M
  Real y = smooth(0.5, time);
  Boolean b = smooth(0, time > 1);
end M;
--- expect ---
exit: 3
error: smooth needs a nonnegative Integer first, not 0.5
--> model.mo:2:19
error: smooth needs Real expressions, not Boolean
--> model.mo:3:25

--- numbers-wanted error check ---
model M
  Real a = homotopy(true, false);
  Real b = semiLinear("a", 1, 2);
  Real c[2] = linspace(0, true, 2);
  Integer n = size(c, "a");
end M;
--- expect ---
exit: 3
error: homotopy needs numbers, not Boolean
--> model.mo:2:21
error: semiLinear needs numbers, not String
--> model.mo:3:23
error: linspace needs numbers, not Boolean
--> model.mo:4:27
error: the dimension must be an Integer, not String
--> model.mo:5:23

--- linspace-with-one-point error check ---
model M
  Real x[1] = linspace(0, 1, 1)*time;
end M;
--- expect ---
exit: 3
error: linspace needs two points or more, not 1
--> model.mo:2:30

--- messages-that-are-no-text error check ---
function f
  input Real x;
  output Real y;
algorithm
  assert(x < 2, 3);
  y := x;
end f;
model M
  Real x = time;
  Real y = f(x);
equation
  assert(x < 2, 1);
  assert(x < 2, "text", 3);
  when x > 1 then
    terminate(2);
  end when;
end M;
--- expect ---
exit: 3
error: a message must be a String, not Integer
--> model.mo:5:17
error: a message must be a String, not Integer
--> model.mo:12:17
error: the level must be an AssertionLevel, not Integer
--> model.mo:13:25
error: a message must be a String, not Integer
--> model.mo:15:15

--- pre-of-a-number error check ---
model M
  discrete Real x;
equation
  when time > 1 then
    x = pre(1);
  end when;
end M;
--- expect ---
exit: 3
error: pre needs a variable, not Integer
--> model.mo:5:9

--- delay-of-a-clocked-signal error check ---
model M
  Real u, y;
equation
  u = sample(time, Clock(0.1));
  y = delay(u, 0.1) + u;
end M;
--- expect ---
exit: 3
error: delay cannot be applied to a clocked signal: it has values at ticks only
--> model.mo:5:7

--- hold-of-time error check ---
model M
  Real y = hold(time);
end M;
--- expect ---
exit: 3
error: hold needs a clocked signal
--> model.mo:2:12

--- redeclared-for-good check ---
model A
  Real x = time;
end A;
model C
  replaceable A a;
end C;
model D
  extends C(redeclare A a);
end D;
model E
  extends C(redeclare replaceable A a);
end E;
model M
  D d(redeclare A a);
  E e(redeclare A a);
end M;
--- expect ---
M: no errors, 1 warning

--- parameter-of-an-enclosing-model error check ---
model O
  parameter Real p = 3;
  model I
    Real x = p*time;
  end I;
  I i;
end O;
model M
  O.I i;
end M;
--- expect ---
exit: 3
error: p is a parameter of an enclosing class and cannot be used inside O.I
--> model.mo:2:18

--- only-a-partial-model error check ---
partial model M
  Real x;
end M;
--- expect ---
exit: 3
error: M is partial and cannot be simulated
--> model.mo:1:15

--- function-with-too-many-inputs error check ---
partial function S
  input Real x;
  output Real y;
end S;
function g
  input Real a;
  input Real b;
  output Real y;
algorithm
  y := a + b;
end g;
function apply
  input S f;
  input Real x;
  output Real y;
algorithm
  y := f(x);
end apply;
model M
  Real z = apply(g, time);
  Real w = apply(function g(b = 1), time);
end M;
--- expect ---
exit: 3
error: g cannot be the argument f of apply: its input b would get no value
--> model.mo:20:12
the function that is given
what is wanted

--- function-of-other-types error check ---
partial function S
  input Real x;
  output Real y;
end S;
function g
  input Boolean x;
  output Real y;
algorithm
  y := if x then 1 else 2;
end g;
function h
  input Real x;
  output Boolean y;
algorithm
  y := x > 1;
end h;
function apply
  input S f;
  input Real x;
  output Real y;
algorithm
  y := f(x);
end apply;
model M
  Real z = apply(g, time);
  Real w = apply(h, time);
end M;
--- expect ---
exit: 3
error: g cannot be the argument f of apply: its input x is not of the kind of x
--> model.mo:25:12
error: h cannot be the argument f of apply: it gives no y of the kind that is wanted
--> model.mo:26:12

--- inner-of-another-type error check ---
model B
  outer Integer w;
  Integer y = w;
end B;
model M
  inner Real w = time;
  B b;
end M;
--- expect ---
exit: 3
error: outer w is a Integer, but the inner w is a Real
--> model.mo:2:17
the inner declaration

--- a-number-for-a-record error check ---
record R
  Real x;
end R;
function f
  input R r;
  output Real y;
algorithm
  y := r.x;
end f;
model M
  Real y = f(1);
end M;
--- expect ---
exit: 3
error: r, an input of f, is a R, but the argument is Integer
--> model.mo:11:12

--- parameter-in-an-algorithm error check ---
model M
  parameter Real p = 1;
  Real x;
algorithm
  p := 2;
  x := p;
end M;
--- expect ---
exit: 3
error: p is a parameter: an algorithm cannot determine it
--> model.mo:5:3

--- inherited-component-declared-anew check ---
model A
  parameter Real p = 1;
end A;
model M
  extends A;
  Integer p = 2;
end M;
--- expect ---
M: no errors, 1 warning

--- range-that-varies-in-an-equation error check ---
model M
  Integer k = integer(time) + 1;
  Real a[3] = {1, 2, 3}*time;
  Real y = sum(a[1:k]);
end M;
--- expect ---
exit: 3
error: the range must be known when compiling
--> model.mo:4:18
a function can take a[1:k] with a k that varies

--- a-when-statement-in-a-loop error check ---
// What is meant is clear: each pass of the loop has a when-statement of its own.
model M
  discrete Real a[2](each start = 0, each fixed = true);
algorithm
  for i in 1:2 loop
    when time > i then
      a[i] := 1;
    end when;
  end for;
end M;

--- expect ---
exit: 0
warning: a when-statement stands in a loop: every pass counts as one of its own
--> model.mo:6:5

--- a-complementarity-is-one-equation error check ---
// D has two unknowns and two equations; E lacks one.
model M
  model D
    Real v, i;
  equation
    0 = min(-v, i);
    v + i = -1;
  end D;
  model E
    Real v, i, z;
  equation
    Saltus.complementarity(-v, i);
    v + i = -1;
  end E;
  D d;
  E e;
end M;
--- expect ---
exit: 4
M.E is not balanced: 3 unknowns, 2 equations, one equation too few

--- what-other-tools-refuse-of-when-equations error ---
model M
  Real x(start = 0, fixed = true), z(start = 0, fixed = true);
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true), k(start = 0, fixed = true);
  Integer i(start = 0, fixed = true), j(start = 0, fixed = true), l(start = 0, fixed = true);
  Boolean b, c;
equation
  der(x) = 1;
  der(z) = 0;
  when x > 1 then
    reinit(z, 0);
  end when;
  when x > 0.5 then
    reinit(z, 2);
  end when;
  when x > 1 then
    n = 1;
  elsewhen x > 2 then
    m = 2;
  end when;
  when x > 0.25 then
    if time < 2 then
      i = 1;
    else
      j = 1;
    end if;
  end when;
  if x > 0.5 then
    when x > 1 then
      k = 1;
    end when;
  end if;
  b = edge(x > 1);
  c = pre(x > 1);
algorithm
  if x > 0 then
    when x > 1 then
      l := 1;
    end when;
  end if;
end M;
--- expect ---
exit: 0
several when-equations reset z
--> model.mo:12:3
--> model.mo:15:3
the branches of this when-clause set different variables: n keeps its value in some
--> model.mo:21:5
the branches of this if in a when-clause set different variables: i keeps its value in some
--> model.mo:28:5
a when-clause stands in an if-equation whose condition changes during the run
--> model.mo:32:7
edge is asked for of an expression
--> model.mo:33:7
pre is asked for of an expression
--> model.mo:36:5
a when-statement stands in an if-statement
