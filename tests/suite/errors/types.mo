Types, variability and modifiers: what a model must not ask for.

--- integer-from-real error check ---
model M
  Integer n;
equation
  n = 2.5*time;
end M;
--- expect ---
exit: 3
error: n is an Integer, but this equation gives it a Real value
--> model.mo:4:3

--- integer-determines-a-real check ---
model M
  Integer n(start = 0);
  Real x;
equation
  n = x;
  when time > 0.5 then
    n = pre(n) + 1;
  end when;
end M;
--- expect ---
M: no errors

--- integer-from-real-in-when error check ---
model M
  Integer n(start = 0);
equation
  when time > 0.5 then
    n = 2.7;
  end when;
end M;
--- expect ---
exit: 3
error: n is an Integer, but this equation gives it a Real value
--> model.mo:5:5

--- boolean-from-real error check ---
model M
  Boolean b;
  Real x = time;
equation
  b = x;
end M;
--- expect ---
exit: 3
error: the sides of the equation have different types: Boolean and Real
--> model.mo:5:3

--- string-in-arithmetic error check ---
model M
  Real x = "a" + 1;
end M;
--- expect ---
exit: 3
error: this operator cannot combine String and Integer
--> model.mo:2:12

--- shapes error check ---
model M
  Real x[3];
equation
  x = {1, 2};
end M;
--- expect ---
exit: 3
error: the sides of the equation have different shapes: [3] and [2]
--> model.mo:4:3

--- parameter-in-an-equation error check ---
model M
  parameter Real p = 1;
  Real x = time;
equation
  p = 2;
end M;
--- expect ---
exit: 3
error: p is a parameter: an equation cannot determine it
--> model.mo:5:3

--- boolean-without-events error check ---
model M
  Boolean b = noEvent(time > 0.5);
end M;
--- expect ---
exit: 3
error: b may change only at events, but this equation changes it continuously
--> model.mo:2:15

--- when-without-events error check ---
model M
  function f
    input Real u;
    output Boolean y;
  algorithm
    y := u > 1.2;
  end f;
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  when f(x) then
    n = pre(n) + 1;
  end when;
end M;
--- expect ---
exit: 3
error: this when-condition follows continuous variables without events: nothing would notice it
--> model.mo:12:8
help: write the relation in the when-clause itself

--- field-of-a-record-without-events error check ---
// The function's relation makes no events. Fields of other types than Real may go on to other functions, but nothing else can follow them.
model M
  record P
    Real a;
    Boolean c;
    Integer b;
  end P;
  function mk
    input Real a;
    output P p;
  algorithm
    p := P(a, a > 0, if a > 0.5 then 1 else 0);
  end mk;
  P p, q, r;
  Real y(start = 0, fixed = true), z;
equation
  p = mk(sin(time - 1));
  q = mk(cos(time));
  r = p;
  der(y) = if r.c then 1 else -1;
  z = q.b*time;
end M;
--- expect ---
exit: 3
error: q.b may change only at events, but this equation changes it continuously
--> model.mo:18:3
error: r.c may change only at events, but this equation changes it continuously
--> model.mo:19:3

--- field-of-a-record-that-goes-on-to-a-function simulate --stop 1 --intervals 1 --variables y ---
model M
  record P
    Real a;
    Integer phase;
  end P;
  function mk
    input Real a;
    output P p;
  algorithm
    p := P(a, if a > 5 then 2 else 1);
  end mk;
  function value
    input P p;
    output Real y;
  algorithm
    y := p.a;
    while y < p.phase loop
      y := y + 1;
    end while;
  end value;
  P p;
  Real y;
equation
  p = mk(2*time);
  y = value(p);
end M;
--- expect ---
time,y
0.0,1.0
1.0,2.0

--- discrete-real-outside-when error check ---
model M
  discrete Real d;
equation
  d = time;
end M;
--- expect ---
exit: 3
error: d is discrete, but this equation changes it continuously
--> model.mo:4:3

--- branches-of-different-types error check ---
model M
  Real x = if time > 1 then 1 else true;
end M;
--- expect ---
exit: 3
error: the branches have different types: Integer and Boolean
--> model.mo:2:12

--- array-of-different-types error check ---
model M
  Real x[2] = {1, false};
end M;
--- expect ---
exit: 3
error: elements of an array must have one type: Integer and Boolean
--> model.mo:2:15

--- final-declaration error check ---
model C
  final parameter Real p = 1;
end C;
model M
  C c(p = 2);
  Real x = c.p*time;
end M;
--- expect ---
exit: 3
error: p is final and cannot be modified
--> model.mo:5:11
made final here

--- final-modifier error check ---
model C
  parameter Real p = 1;
end C;
model D
  extends C(final p = 3);
end D;
model M
  D d(p = 2);
  Real x = d.p*time;
end M;
--- expect ---
exit: 3
error: p is final and cannot be modified
--> model.mo:8:11

--- final-attribute error check ---
type Length = Real(final unit = "m");
model M
  Length x(unit = "km") = time;
end M;
--- expect ---
exit: 3
error: unit is final and cannot be modified
--> model.mo:3:19

--- class-contains-itself error check ---
model M
  model P
    Q q;
    Q r;
  end P;
  model Q
    P p;
    P s;
  end Q;
  P p;
end M;
--- expect ---
exit: 3
error: M.P contains itself: p would hold p.q.p, and so on without end
--> model.mo:7:7
error: M.P contains itself: p would hold p.q.s, and so on without end
--> model.mo:8:7

--- recursion-that-ends flatten ---
model M
  model Tree
    parameter Integer depth = 1;
    Real x = depth*time;
    Tree left(depth = depth - 1) if depth > 0;
    Tree right(depth = depth - 1) if depth > 0;
  end Tree;
  Tree tree;
end M;
--- expect ---
model M
  parameter Integer tree.depth = 1;
  Real tree.x;
  parameter Integer tree.left.depth = 0;
  Real tree.left.x;
  parameter Integer tree.right.depth = 0;
  Real tree.right.x;
equation
  tree.x = time;
  tree.left.x = 0;
  tree.right.x = 0;
end M;

--- unknown-import error check ---
model M
  import Nowhere.Thing;
  Thing t;
end M;
--- expect ---
exit: 3
error: the imported name Nowhere.Thing is not known: there is no Nowhere
--> model.mo:2:3

--- unknown-import-inside-a-package error check ---
package P
  model Spring
    Real x = 1;
  end Spring;
end P;
model M
  import P.Sprng;
  Sprng s;
end M;
--- expect ---
exit: 3
error: the imported name P.Sprng is not known: there is no Sprng in P
--> model.mo:7:3

--- missing-inner error check ---
model M
  model C
    outer Real T;
    Real x = T;
  end C;
  C c;
end M;
--- expect ---
exit: 3
error: there is no inner declaration for outer T, and its class Real gives it no value
--> model.mo:3:16

--- unbalanced-component error check ---
connector Pin
  Real v;
  flow Real i;
end Pin;
model Resistor
  Pin p;
  Pin n;
equation
  p.v - n.v = p.i;
end Resistor;
model Ground
  Pin p;
equation
  p.v = 0;
end Ground;
model M
  Resistor r;
  Ground g;
  Ground h;
equation
  connect(r.n, g.p);
  connect(r.p, h.p);
end M;
--- expect ---
exit: 4
warning: Resistor is not balanced: 4 unknowns, 3 equations, one equation too few
--> model.mo:5:7
error: the model is structurally singular: 0 equations for 1 unknowns; not determined: r.n.i
--> model.mo:3:13

--- unbalanced-model error check ---
model M
  Real x, y;
equation
  x = time;
end M;
--- expect ---
exit: 4
warning: M is not balanced: 2 unknowns, 1 equations, one equation too few
--> model.mo:1:7
error: the model is structurally singular: 1 equations for 2 unknowns; not determined: y
--> model.mo:2:11

--- distribution-points error ---
model M
  Real x(start = 0, fixed = true), a, b;
equation
  der(x) = 1;
  (a, b) = spatialDistribution(1, 0, x, true, {0, 0.7, 0.5, 1}, {0, 0, 0, 0});
end M;
--- expect ---
exit: 3
initialPoints must ascend from 0 to 1
:5:

--- distribution-lengths error ---
model M
  Real x(start = 0, fixed = true), a, b;
equation
  der(x) = 1;
  (a, b) = spatialDistribution(1, 0, x, true, {0, 0.5, 1}, {0, 0});
end M;
--- expect ---
exit: 3
initialPoints and initialValues must have the same number of elements

--- distribution-velocity error ---
model M
  Real x(start = 0, fixed = true), a, b;
equation
  der(x) = 1;
  (a, b) = spatialDistribution(1, 0, x, 1);
end M;
--- expect ---
exit: 3
positiveVelocity must be a Boolean scalar

--- connect-of-plain-variables error check ---
model M
  Real a, b;
equation
  connect(a, b);
  a = 1;
end M;
--- expect ---
exit: 3
error: a is not a connector
--> model.mo:4:11

--- input-of-a-function-assigned error check ---
function f
  input Real x;
  output Real y;
algorithm
  x := 1;
  y := x;
end f;
model M
  Real z = f(time);
end M;
--- expect ---
exit: 3
error: x is an input of f and cannot be assigned
--> model.mo:5:3

--- statements-of-other-types error check ---
function f
  input Real x;
  output Integer n;
algorithm
  n := x + 1;
end f;
model M
  Integer n = f(time);
end M;
--- expect ---
exit: 3
model.mo:5
n is of type Integer, but the value is of type Real

--- a-number-for-a-truth-value error check ---
model M
  Boolean b;
algorithm
  b := 1;
end M;
--- expect ---
exit: 3
model.mo:4
Boolean and Integer do not fit together

--- text-for-a-number error check ---
model M
  Real x;
algorithm
  x := "a";
end M;
--- expect ---
exit: 3
model.mo:4
Real and String do not fit together

--- a-scalar-for-an-array error check ---
model M
  Real x[2];
algorithm
  x := 1;
end M;
--- expect ---
exit: 3
model.mo:4
x has 1 dimension, but the value is a scalar
fill

--- an-array-of-another-size-in-a-statement error check ---
function f
  input Real a[3];
  output Real n;
protected
  Real b[2];
algorithm
  b := a;
  n := b[1];
end f;
model M
  Real y = f({1, 2, 3}*time);
end M;
--- expect ---
exit: 3
model.mo:7
b has the shape [2], but the value has the shape [3]

--- sums-of-truth-values-in-functions error check ---
function f
  input Real x;
  input Boolean b;
  output Real y;
algorithm
  y := x + b;
end f;
model M
  Real y = f(time, true);
end M;
--- expect ---
exit: 3
model.mo:6
this operator cannot combine Real and Boolean

--- conditions-in-functions error check ---
function f
  input Real x;
  output Real y;
algorithm
  y := 0;
  while x loop
    y := y + 1;
  end while;
end f;
model M
  Real y = f(time);
end M;
--- expect ---
exit: 3
model.mo:6
a condition must be a Boolean, not of type Real

--- enumerations-have-names error check ---
type E = enumeration(a, b);
type F = enumeration(a, c);
model M
  E e = F.a;
end M;
--- expect ---
exit: 3
model.mo:4
e is of type E, but the value is F

--- results-of-other-types error check ---
function f
  input Real x;
  output Real y;
  output Boolean b;
algorithm
  y := x;
  b := x > 1;
end f;
function g
  input Real x;
  output Real y;
protected
  Integer n;
algorithm
  (y, n) := f(x);
end g;
model M
  Real y = g(time);
end M;
--- expect ---
exit: 3
model.mo:15
Integer and Boolean do not fit together

--- more-elements-than-fit error check ---
model M
  Real x[100000, 100000];
end M;
--- expect ---
exit: 3
model.mo:2
x has the shape [100000, 100000]: 10000000000 elements are too many

--- a-large-array-of-zeros error check ---
model M
  parameter Real x = sum(zeros(100000, 100000));
end M;
--- expect ---
exit: 3
model.mo:2
an array of 10000000000 elements is too large

--- text-without-end error ---
function f
  input Integer n;
  output String s;
algorithm
  s := "ab";
  for i in 1:n loop
    s := s + s;
  end for;
end f;
model M
  parameter String s = f(60);
end M;
--- expect ---
exit: 5
model.mo:7
the text becomes too long

--- a-scalar-bound-to-an-array error check ---
model M
  parameter Real k = 1;
  Real x[2] = k;
end M;
--- expect ---
exit: 3
model.mo:3
x has the shape [2], but the value is a scalar
fill

--- each-left-out error check ---
model A
  parameter Real p = 0;
  Real y = p;
end A;
model M
  A a[3](p = 1);
end M;
--- expect ---
exit: 0
model.mo:6
`each` is missing

--- a-condition-that-is-a-number error check ---
model M
  Real x if 1;
end M;
--- expect ---
exit: 3
model.mo:2
the condition of a component must be a Boolean, not Integer

--- a-dimension-that-is-real error check ---
model M
  parameter Real n = 2;
  Real a[n] = ones(2);
end M;
--- expect ---
exit: 3
model.mo:3
a dimension must be a nonnegative Integer, not the Real 2

--- attributes-of-other-types error check ---
model M
  Real x(unit = 1) = 1;
  Integer n(start = 1.5);
  Real y(stateSelect = 1) = 2;
end M;
--- expect ---
exit: 3
x.unit is of type String, but the value is Integer
n.start is of type Integer, but the value is Real
y.stateSelect is of type StateSelect

--- a-discrete-real-bound-to-time error check ---
model M
  discrete Real d = time;
end M;
--- expect ---
exit: 3
model.mo:2
d is discrete, but this equation changes it continuously

--- a-constant-without-a-value error check ---
model M
  constant Real c;
  Real x = time;
end M;
--- expect ---
exit: 3
model.mo:2
the constant c has no value

--- each-before-an-array error check ---
model M
  Real x[2](each start = {1, 2}, each fixed = true);
equation
  der(x) = -x;
end M;
--- expect ---
exit: 0
model.mo:2
`each start` stands before an array

--- a-constant-from-a-parameter error check ---
model M
  parameter Real p = 2;
  constant Real c = 2*p;
  Real x = c*time;
end M;
--- expect ---
exit: 3
model.mo:3
c is a constant, but p is not

--- a-size-that-is-real error check ---
model M
  Real x[2] = zeros(2.0);
end M;
--- expect ---
exit: 3
model.mo:2
a size must be a nonnegative Integer

--- errors-of-two-classes-that-cancel-out error check ---
connector Pin
  Real v;
  flow Real i;
end Pin;
model Loose
  Pin p;
  Real x;
end Loose;
model Stiff
  Pin p;
  Real x;
equation
  p.v = 1;
  p.i = 2*time;
  x = time;
end Stiff;
model Fine
  Pin p;
  input Real u = 1;
equation
  p.v = u;
end Fine;
model M
  Loose a;
  Stiff b;
  Fine c;
equation
  connect(a.p, b.p);
  a.x = 3;
end M;
--- expect ---
exit: 0
warning: Loose is not balanced: 3 unknowns, 1 equations, 2 equations too few
in a
warning: Stiff is not balanced: 3 unknowns, 4 equations, one equation too many
in b

--- branches-that-are-never-taken-have-types error check ---
model M
  parameter Boolean on = true;
  Real x = if on then 1 else "one";
  Boolean b = if not on then 2 > 1 elseif on then 1.0 else false;
end M;

--- expect ---
exit: 3
error: the branches have different types: Integer and String
--> model.mo:3:12
error: the branches have different types: Real and Boolean
--> model.mo:4:15

--- integers-do-not-count-values-of-a-type error check ---
model M
  type E = enumeration(low, high);
  parameter Real p[E] = {1, 2};
  Real x = p[E.low];
  Real y = p[1];
end M;

--- expect ---
exit: 3
error: the subscript is an Integer, but this dimension is declared by a type
--> model.mo:5:14

--- modifiers-with-more-elements-than-the-array error check ---
model A
  parameter Real p = 1;
end A;
model M
  A a[2](p = {1, 2});
  A b[2](p = {1, 2, 3});
end M;

--- expect ---
exit: 3
error: the modifier has the shape [3], too large for an array of shape [2]
--> model.mo:6:14

--- results-go-to-variables error check ---
function f
  output Real x = 1;
  output Real y = 2;
algorithm
end f;
model M
  Real a, b;
equation
  (a + 1, b) = f();
end M;

--- expect ---
exit: 3
error: results of a function go to variables, not to expressions
--> model.mo:9:4

--- a-maximal-delay-that-changes error check ---
model M
  Real y = delay(time, 0.1*time, time);
end M;

--- expect ---
exit: 3
error: delayMax must be a parameter expression
--> model.mo:2:12

--- states-with-algebraic-variables-are-balanced check ---
model M
  inner Real x(start = 0, fixed = true);
  block Up
    outer output Real x;
    Real a;
  equation
    a = 2 - x;
    der(x) = a;
  end Up;
  block Down
    outer output Real x;
    Real b, z(start = 1);
  equation
    b = -x;
    der(x) = b;
    der(z) = 1;
  end Down;
  Up up;
  Down down;
equation
  initialState(up);
  transition(up, down, x > 1, immediate = false);
  transition(down, up, x < 0.5, immediate = false);
end M;
--- expect ---
M: no errors

--- unbalanced-on-a-clock error check ---
model M
  model Part
    Real x(start = 1, fixed = true), a, miss;
    input Real u;
  equation
    a = -x + u;
    der(x) = a;
  end Part;
  Part p;
  Real y = hold(p.x);
equation
  p.u = sample(time, Clock(Clock(1,10), solverMethod = "ExplicitRungeKutta4"));
end M;
--- expect ---
exit: 4
warning: M.Part is not balanced: 3 unknowns, 2 equations, one equation too few
