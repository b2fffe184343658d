Mistakes that need the whole class to be seen.

--- two-outputs-connected error check ---
connector Out = output Real;
connector In = input Real;
block Source
  Out y = 1;
end Source;
block Sink
  In u;
end Sink;
model M
  Source a, b;
  Sink s;
equation
  connect(a.y, s.u);
  connect(b.y, s.u);
end M;
--- expect ---
exit: 3
error: a.y and b.y are connected, and both give the value: only one signal can be the source
--> model.mo:14:3
a.y is connected here

--- an-output-passed-on-through-a-protected-input check ---
connector Out = output Real;
connector In = input Real;
block Source
  Out y = 1;
end Source;
block Sink
  In u;
end Sink;
block B
  parameter Boolean given = false;
  In u if given;
  Out y;
protected
  In inside;
  Source other if not given;
equation
  connect(u, inside);
  connect(other.y, inside);
  y = inside;
end B;
model M
  B b;
  Source s;
  B c(given = true);
equation
  connect(s.y, c.u);
end M;
--- expect ---
M: no errors

--- modifier-of-an-extends-clause-that-meets-nothing error check ---
model A
  Real speed = 1;
end A;
model B
  extends A(sped = 3);
end B;
model C
  extends B;
end C;
model M
  C c;
end M;
--- expect ---
exit: 3
error: A has no sped to modify
--> model.mo:5:13
help: did you mean speed?

--- the-way-through-extends-clauses error check ---
model A
  Real x;
equation
  x = y;
end A;
model B
  extends A;
end B;
model C
  extends B;
end C;
model M
  C c;
end M;
--- expect ---
exit: 3
error: y is not known in A
--> model.mo:4:7
extended by B here
extended by C here
note: in c

--- a-modifier-and-the-declaration-it-conflicts-with error check ---
model A
  parameter Integer n = 1;
end A;
model M
  A a(n = 2.5);
end M;
--- expect ---
exit: 3
error: a.n is of type Integer, but the value is Real
--> model.mo:5:11
declared here
note: in a

--- too-many-arguments error check ---
model M
  Real x = sin(1, 2);
end M;
--- expect ---
exit: 3
error: sin needs one argument, 2 are given
--> model.mo:2:12

--- misspelt-experiment check ---
model M
  Real x = 1;
  annotation(experiment(StopTme = 3, __Vendor_flag = 1));
end M;
--- expect ---
M: no errors, 1 warning

--- protected-variable-from-outside check ---
model A
protected
  Real x = 1;
end A;
model M
  A a;
  Real y = a.x;
end M;
--- expect ---
M: no errors, 1 warning

--- misspelt-attribute error check ---
model M
  Real x(strat = 1) = 2;
end M;
--- expect ---
exit: 3
error: Real has no attribute strat
--> model.mo:2:10
help: did you mean start?

--- models-are-no-connectors error check ---
model A
  Real x = 1;
end A;
model M
  A a;
  A b;
equation
  connect(a, b);
end M;
--- expect ---
exit: 3
model.mo:8
a is not a connector, but a A

--- connectors-of-components-of-components error check ---
connector Pin
  Real v;
  flow Real i;
end Pin;
model A
  Pin p;
equation
  p.v = p.i;
end A;
model B
  A a;
end B;
model V
  Pin p;
equation
  p.v = 1;
end V;
model M
  B b;
  V v;
equation
  connect(b.a.p, v.p);
end M;
--- expect ---
exit: 3
model.mo:22
b.a.p lies inside of b

--- a-bus-and-a-pin error check ---
expandable connector Bus
end Bus;
connector Pin
  Real v;
  flow Real i;
end Pin;
model M
  Bus b;
  Pin p;
equation
  connect(b, p);
end M;
--- expect ---
exit: 3
model.mo:11
b is expandable and p is not

--- streams-without-a-flow error check ---
connector C
  Real p;
  stream Real h;
end C;
model M
  C c;
equation
  c.p = 1;
  c.h = 2;
end M;
--- expect ---
exit: 3
model.mo:1
C has stream variables, so it must have exactly one flow variable, not 0

--- two-roots-in-one-tree error check ---
record Ref
  Real g;
  function equalityConstraint
    input Ref a;
    input Ref b;
    output Real r[0];
  algorithm
  end equalityConstraint;
end Ref;
connector Pin
  Real v;
  flow Real i;
  Ref r;
end Pin;
model M
  Pin p;
  Pin q;
equation
  Connections.root(p.r);
  Connections.root(q.r);
  Connections.branch(p.r, q.r);
  p.v = 1;
  q.v = 1;
  p.r.g = 2;
  q.r.g = 2;
end M;
--- expect ---
exit: 3
q.r is a root, and so is another one

--- packages-and-functions-are-no-components error check ---
package P
  constant Real a = 1;
end P;
function f
  input Real x;
  output Real y;
algorithm
  y := x;
end f;
model M
  P p;
  f g;
end M;
--- expect ---
exit: 3
p cannot be a component: P is a package
g cannot be a component: f is a function

--- a-model-has-no-value error check ---
model A
  Real x = 1;
end A;
model M
  A a = 3;
end M;
--- expect ---
exit: 3
model.mo:5
a is a A, which has no value

--- what-classes-cannot-hold error check ---
record R
  Real x;
equation
  x = 1;
end R;
connector C
  Real x;
equation
  x = 1;
end C;
function f
  input Real x;
  output Real y;
equation
  y = x;
end f;
model A
  Real x = 1;
end A;
record S
  extends A;
end S;
type E = enumeration(a, b, a);
model M
  R r;
  C c;
  S s;
  Real y = f(1);
  E e = E.b;
end M;
--- expect ---
exit: 3
R is a record and cannot have equations
C is a connector and cannot have equations
f is a function and cannot have equations
S is a record and cannot extend A
the literal a stands twice in E

--- an-inherited-class-declared-again error check ---
model T1
  Real y = 1;
end T1;
model T2
  Real y = 2;
end T2;
model A
  replaceable model T = T1;
  T t;
end A;
model M
  extends A;
  model T = T2;
end M;
--- expect ---
exit: 0
model.mo:13
warning: T is inherited already
redeclare

--- variables-of-enclosing-classes error check ---
model M
  Real v = time;
  model A
    Real y = v;
  end A;
  A a;
end M;
--- expect ---
exit: 3
v is a variable of an enclosing class and cannot be used inside M.A
