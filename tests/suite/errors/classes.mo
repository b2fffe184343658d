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
