Redeclarations, inner and outer, connections, kinds of classes: what is refused, and where that is told.

--- a-replacement-of-another-nature error check ---
model M
  model A Real x = 1; end A;
  model B replaceable A a; end B;
  B b(redeclare Real a = 1);
end M;

--- expect ---
exit: 3
error: Real cannot take the place of a, which is a M.A
--> model.mo:4:22

--- a-number-replaced-by-another-type error check ---
model M
  model B replaceable Real a = 1; end B;
  B b(redeclare String a = "x");
end M;

--- expect ---
exit: 3
error: String cannot take the place of a, which is a Real
--> model.mo:3:24

--- a-package-replaced-by-a-model error check ---
model M
  model B
    replaceable package P constant Real c = 1; end P;
    Real x = P.c;
  end B;
  model Q constant Real c = 2; end Q;
  B b(redeclare model P = Q);
end M;

--- expect ---
exit: 3
error: P is a package, and cannot be redeclared as a model
--> model.mo:7:7

--- another-number-of-dimensions error check ---
model M
  model A Real x = 1; end A;
  model B replaceable A a; replaceable Real r = 1; end B;
  B b(redeclare A a[3], redeclare Real r[2] = {1, 2});
end M;

--- expect ---
exit: 3
error: a has 0 dimensions, and cannot be redeclared with 1
--> model.mo:4:19
error: r has 0 dimensions, and cannot be redeclared with 1
--> model.mo:4:40

--- a-constraint-that-is-not-there error check ---
model M
  model A Real x = 1; end A;
  model B replaceable A a constrainedby Foo; end B;
  B b;
end M;

--- expect ---
exit: 3
error: the class Foo is not known here
--> model.mo:3:41

--- a-default-outside-its-constraint error check ---
model M
  model A Real x = 1; end A;
  partial model P Real x; Real y; end P;
  model B replaceable A a constrainedby P; end B;
  B b;
end M;

--- expect ---
exit: 3
error: M.A cannot be the default of a: it has no y, which M.P declares
--> model.mo:4:25

--- a-class-extended-in-place-that-is-not-replaceable error check ---
package P
  model B model A Real x = 1; end A; end B;
  model M
    extends B;
    redeclare model extends A Real y = 2; end A;
    A a;
  end M;
end P;

--- expect ---
exit: 3
error: A is not replaceable and cannot be redeclared
--> model.mo:5:29

--- an-inner-of-another-shape error check ---
model M
  model A outer Real T[3]; Real y = T[1]; end A;
  inner Real T[2] = {1, 2};
  A a;
end M;

--- expect ---
exit: 3
error: outer T has the shape [3], but the inner T has the shape [2]
--> model.mo:2:22

--- an-outer-parameter-with-an-inner-variable error check ---
model M
  model A outer parameter Real T; Real y = T; end A;
  inner Real T = time;
  A a;
end M;

--- expect ---
exit: 3
error: outer T is a parameter, but the inner T varies during the run
--> model.mo:2:32

--- a-missing-inner-says-where error check ---
model M
  model W parameter Real g = 1; end W;
  model A model B outer W world; Real x = world.g; end B; B b; end A;
  A a;
end M;
--- expect ---
exit: 0
warning: there is no inner declaration for outer world; a default M.W is used
--> model.mo:3:27
in a.b
declare `inner M.W world` at the top of the model

--- connected-parameters-that-differ error simulate --stop 1 ---
model M
  connector P parameter Real n = 2; Real v; flow Real i; end P;
  model A P p; equation p.v = 1; end A;
  model B P p; equation p.i = 1; end B;
  A a(p(n = 2));
  B b(p(n = 3));
equation
  connect(a.p, b.p);
end M;

--- expect ---
exit: 5
error: assertion failed at time 0.0: a.p.n and b.p.n are connected, but their values differ
--> model.mo:8:3

--- what-records-cannot-hold error check ---
model M
  record R
    flow Real x;
    outer Real z;
  protected
    Real y = 1;
  end R;
  R r(x = 1);
end M;

--- expect ---
exit: 3
error: x is a flow variable, but M.R is a record, not a connector
--> model.mo:3:15
error: z is inner or outer, but M.R is a record
--> model.mo:4:16
error: y is protected, but M.R is a record: all of it is public
--> model.mo:6:10
error: there is no inner declaration for outer z, and its class Real gives it no value
--> model.mo:4:16

--- what-connectors-cannot-hold error check ---
model M
  connector C flow parameter Real v; Real p; end C;
  expandable connector B Real x; flow Real i; end B;
  C c;
  B b;
end M;

--- expect ---
exit: 3
--> model.mo:2:35
error: v is a flow variable, so it cannot be a parameter or constant
--> model.mo:2:35
error: i is a flow variable, but M.B is expandable: it can hold them in connectors only
--> model.mo:3:44

--- a-package-with-equations error check ---
model M
  package P
    constant Real x = 1;
  equation
    x = 2;
  end P;
  Real y = P.x;
end M;

--- expect ---
exit: 3
error: M.P is a package and cannot have equations or algorithms
--> model.mo:2:11

--- a-constant-of-a-package-without-a-value error check ---
model M
  package P constant Real x; end P;
  Real y = P.x;
end M;

--- expect ---
exit: 3
error: the constant M.P.x has no value
--> model.mo:2:27

--- connections-at-the-start error check ---
model M
  connector C Real v; flow Real i; end C;
  C a, b;
initial equation
  connect(a, b);
end M;

--- expect ---
exit: 3
error: connect cannot stand in an initial equation section
--> model.mo:5:3

--- when-inside-when-of-an-algorithm error check ---
model M
  Real x(start = 0), y(start = 0);
algorithm
  when time > 1 then
    when time > 2 then
      x := 1;
    end when;
  end when;
algorithm
  while time > 1 loop
    when time > 2 then
      y := 1;
    end when;
  end while;
end M;

--- expect ---
exit: 3
error: when-clauses cannot be nested
--> model.mo:5:5
error: when cannot stand in a while loop
--> model.mo:11:5

--- subscripts-of-scalars-in-functions error check ---
model M
  function f input Real x; output Real y; algorithm y := x[1]; end f;
  function g input Real x[2]; output Real y; algorithm y := x[1, 2]; end g;
  Real z = f(time);
  Real w = g({time, 1});
end M;

--- expect ---
exit: 3
error: x is a scalar and has no subscripts
--> model.mo:2:58
error: x has 1 dimensions, but 2 subscripts
--> model.mo:3:61

--- variables-of-loops-and-constants-stay error check ---
model M
  constant Real c = 1;
  Real x, y;
algorithm
  for i in 1:3 loop
    i := 2;
    x := i;
  end for;
algorithm
  c := 2;
  y := c;
end M;

--- expect ---
exit: 3
error: i is the variable of a loop and cannot be assigned
--> model.mo:6:5
error: c is a constant and cannot be assigned
--> model.mo:10:3

--- a-bus-without-that-signal error check ---
model M
  expandable connector B end B;
  connector RO = output Real;
  RO y = 1;
  B b;
  Real z = b.foo;
equation
  connect(y, b.bar);
end M;

--- expect ---
exit: 3
error: nothing puts b.foo into its bus
--> model.mo:6:12

--- a-package-imported-as-a-whole-that-is-not-there error check ---
model M
  import Foo.*;
  Real x = y;
end M;

--- expect ---
exit: 3
--> model.mo:1:7
error: y is not known in M
--> model.mo:3:12

--- three-connectors-in-one-connect error check ---
model M
  connector C Real v; flow Real i; end C;
  C a, b, c;
equation
  connect(a, b, c);
end M;

--- expect ---
exit: 3
error: `connect` joins two connectors
--> model.mo:5:15

--- a-branch-of-one error check ---
model M
  connector C Real v; flow Real i; end C;
  C c;
equation
  Connections.branch(c.v);
  Connections.root();
end M;

--- expect ---
exit: 3
error: Connections.branch needs two connectors' records
--> model.mo:5:3
error: Connections.root needs a connector's record
--> model.mo:6:3

--- signs-of-other-languages error check ---
model M
  Real x = 2**3;
  Real y = 5 % 2;
  Real w = true ? 1 : 2;
  Real ä = 1;
  Real z = 2 – 3;
end M;

--- expect ---
exit: 3
error: expected an expression, found `*`
--> model.mo:2:14
error: unknown character `%`
--> model.mo:3:14
error: unknown character `?`
--> model.mo:4:17
error: unknown character `ä`
--> model.mo:5:8
error: unknown character `–`
--> model.mo:6:14

--- several-mistakes-in-several-components error check ---
model M
  model R
    parameter Real R = 1;
    Real v, i;
  equation
    v = R*i;
    v = 1;
  end R;
  R a(r = 100);
  R b(R = "x");
  Resistor c;
  Real d = a.w;
  Real e[2] = {1, 2, 3};
equation
  a.v = b;
end M;
--- expect ---
exit: 3
error: M.R has no r to modify
--> model.mo:9:7
error: the class Resistor is not known here
--> model.mo:11:3
error: b.R is of type Real, but the value is String
--> model.mo:10:11
error: a (a M.R) has no w
--> model.mo:12:14
error: e has the shape [2], but the value has the shape [3]
--> model.mo:13:15
error: b is a M.R, not a value
--> model.mo:15:9

--- an-enumeration-without-literals error check ---
model M
  type E = enumeration(:);
  E e;
end M;

--- expect ---
exit: 3
error: e is of M.E, an enumeration without literals
--> model.mo:3:5

--- a-type-made-of-a-model error check ---
model M
  model R Real x = 1; end R;
  type T = R;
  T t;
end M;

--- expect ---
exit: 3
error: M.T is a type and cannot extend M.R, which is a model
--> model.mo:3:12

--- flows-and-streams-are-real error check ---
model M
  connector A Real v; flow Boolean i; end A;
  connector B Real v; flow Real i; stream Integer h; end B;
  A a;
  B b;
end M;

--- expect ---
exit: 3
error: i is a flow variable and must be Real, not Boolean
--> model.mo:2:36
error: h is a stream variable and must be Real, not Integer
--> model.mo:3:51

--- a-derivative-that-is-not-there error check ---
model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := 0;
    for i in 1:integer(10 + abs(x)) loop
      y := y + sin(i*x);
    end for;
    annotation (derivative = f_der);
  end f;
  Real z = f(time);
  Real w = der(z);
end M;
--- expect ---
exit: 0
warning: the derivative f_der is not known
--> model.mo:10:30

--- arguments-that-are-records error check ---
model M
  record A Real x; end A;
  record B Real y; end B;
  function f input A a; output Real y; algorithm y := a.x; end f;
  Real y = f(B(1));
  Real z = f(1);
end M;

--- expect ---
exit: 3
error: the record given has no field x
--> model.mo:5:12
error: a, an input of M.f, is a M.A, but the argument is Integer
--> model.mo:6:12

--- a-connector-of-another-domain error check ---
model M
  connector E Real v; flow Real i; end E;
  connector H Real T; flow Real Q; end H;
  model R E p; equation p.v = p.i; end R;
  model S H p; equation p.T = p.Q; end S;
  model Pair R r; S s; equation connect(r.p, s.p); end Pair;
  Pair a;
end M;

--- expect ---
exit: 3
error: a.r.p has v, but a.s.p has not
--> model.mo:6:33

--- a-component-with-an-equation-too-few error check ---
model M
  model Two
    Real x, y;
  equation
    x = time;
  end Two;
  model Box Two t; end Box;
  Box b;
end M;

--- expect ---
exit: 4
--> model.mo:2:9
error: the model is structurally singular: 1 equations for 2 unknowns; not determined: b.t.y
--> model.mo:3:13

--- roots-of-plain-variables error check ---
model M
  connector C Real v; flow Real i; end C;
  C c;
  Boolean b = Connections.isRoot(time);
  Boolean d = Connections.rooted(3);
  Boolean f = Connections.foo(c.v);
end M;
--- expect ---
exit: 3
error: time is not known in M
--> model.mo:4:34
error: a connector's overdetermined record is needed
--> model.mo:5:34
error: Connections.foo is not an expression
--> model.mo:6:15

--- names-from-other-languages error check ---
model M
  float f = 1;
  int i = 2;
  bool b = true;
  Real x = Sin(time);
  Real y = squrt(2);
  Boolean c = time > foo(2);
end M;
--- expect ---
exit: 3
error: the class float is not known here
--> model.mo:2:3
did you mean Real?
error: the class int is not known here
--> model.mo:3:3
did you mean Integer?
error: the class bool is not known here
--> model.mo:4:3
did you mean Boolean?
error: Sin is not known in M
--> model.mo:5:12
did you mean sin
error: squrt is not known in M
--> model.mo:6:12
did you mean sqrt?
error: foo is not known in M
--> model.mo:7:22

--- one-sign-for-equality-and-binding error check ---
model M
  Boolean b = time = 1;
end M;
--- expect ---
exit: 3
error: expected `;` after the declaration, found `=`
--> model.mo:2:20
inside an expression equality is written `==`

--- connected-variables-of-different-units error check ---
// N.m and J, and rad/s and 1/s, are the same; what is not known here (bananas) is not compared.
model Source
  connector Out = output Real;
  Out y = 1;
end Source;
model Sink
  connector In = input Real;
  In u;
end Sink;
model M
  Source a(y.unit = "m/s"), b(y.unit = "N.m"), c(y.unit = "rad/s"), d(y.unit = "bananas"), e(y.unit = "km");
  Sink p(u.unit = "m"), q(u.unit = "J"), r(u.unit = "1/s"), s(u.unit = "m"), t(u.unit = "m");
  Real length(unit = "m") = 1;
  Real duration(unit = "s") = length;
equation
  connect(a.y, p.u);
  connect(b.y, q.u);
  connect(c.y, r.u);
  connect(d.y, s.u);
  connect(e.y, t.u);
end M;

--- expect ---
exit: 0
warning: duration has the unit s, but length has the unit m
--> model.mo:14:31
warning: a.y has the unit m/s, but p.u has the unit m
--> model.mo:16:3
warning: e.y has the unit km, but t.u has the unit m
--> model.mo:20:3

--- connectors-that-must-be-connected-and-only-once error check ---
connector Pin
  Real v;
  flow Real i;
end Pin;
model Source
  Pin p annotation(mustBeConnected = "a source drives something");
  Pin q[2] annotation(mayOnlyConnectOnce = "one wire for each clamp");
equation
  p.v = 1;
  q.v = {2, 3};
end Source;
model Load
  Pin p;
equation
  p.v = p.i;
end Load;
model M
  Source good, bad;
  Load a, b, c, d;
equation
  connect(good.p, a.p);
  connect(good.q[1], b.p);
  connect(bad.q[2], c.p);
  connect(bad.q[2], d.p);
end M;

--- expect ---
exit: 3
error: bad.p must be connected: a source drives something
--> model.mo:6:7
error: bad.q[2] may be connected only once: one wire for each clamp
--> model.mo:7:7

--- a-missing-inner-with-a-message-of-its-own error check ---
model World
  parameter Real g = 9.81;
  annotation(missingInnerMessage = "The default world has the gravity of the earth");
end World;
model Body
  outer World world;
  Real w = world.g;
end Body;
model M
  Body b;
end M;

--- expect ---
exit: 0
warning: there is no inner declaration for outer world; a default World is used
--> model.mo:6:15
help: The default world has the gravity of the earth

--- redeclared-twice-in-one-list error check ---
model M
  model A Real y = 1; end A;
  model B Real y = 2; end B;
  model S replaceable A c; end S;
  S s(redeclare A c, redeclare B c);
end M;

--- expect ---
exit: 3
error: c is redeclared twice
--> model.mo:5:22

--- graphs-of-overdetermined-types error check ---
model M
  connector C
    Real v;
    flow Real i;
  end C;
  C c;
equation
  Connections.root(c.v);
  c.v = 1;
end M;

--- expect ---
exit: 3
error: c.v is not overdetermined: its class has no function equalityConstraint
--> model.mo:8:20

--- a-unique-root-is-taken-as-it-is check ---
// The operator is no part of the specification; libraries use it, and it says nothing about equations.
model M
  type Angle
    extends Real;
    function equalityConstraint
      input Real a, b;
      output Real residue[0];
    algorithm
    end equalityConstraint;
  end Angle;
  connector Plug
    Angle phase;
    Real v;
    flow Real i;
  end Plug;
  Plug p;
equation
  Connections.root(p.phase);
  Connections.uniqueRoot(p.phase, "one reference only");
  p.phase = 0;
  p.v = 1;
end M;

--- expect ---
M: no errors
