What a kind of class may be made of (Modelica 3.6, sections 4.7, 4.9 and 7.1.3): what it extends, what it holds, and how that may be called.

--- what-may-extend-what error check ---
function f
  input Real x;
  output Real y = x;
algorithm
end f;
model A
  Real v = 1;
end A;
connector C
  extends A;
end C;
function g
  extends A;
  output Real y = 1;
algorithm
end g;
block B
  extends A;
end B;
record R
  extends A;
end R;
model M
  extends f;
  C c;
  B b;
  R r;
  Real y = g();
end M;

--- expect ---
exit: 3
error: M is a model and cannot extend f, which is a function
--> model.mo:24:11
error: C is a connector and cannot extend A, which is a model
--> model.mo:10:11
error: B is a block and cannot extend A, which is a model
--> model.mo:18:11
error: R is a record and cannot extend A, which is a model
--> model.mo:21:11
error: g is a function and cannot extend A, which is a model
--> model.mo:13:11

--- what-may-extend-what-and-does simulate --stop 0 ---
record Data
  parameter Real k = 2;
end Data;
type Length = Real(unit = "m");
connector Position
  extends Length;
end Position;
connector Pin
  extends Data;
  Real v;
  flow Real i;
end Pin;
block Gain
  extends Data;
  input Real u = 3;
  output Real y = k*u;
end Gain;
model M
  extends Gain;
  Pin p;
  Position x = 5;
equation
  p.v = p.k;
end M;

--- expect ---
time,k,u,y,p.v,p.i,x
0.0,2.0,3.0,6.0,2.0,0.0,5.0

--- types-hold-nothing error check ---
model M
  type T
    Real x;
  end T;
  type U
    extends Real;
  equation
    assert(true, "");
  end U;
  T t;
  U u = 1;
end M;

--- expect ---
exit: 3
error: M.T is a type and cannot have components
--> model.mo:3:10
error: M.U is a type and cannot have equations or algorithms
--> model.mo:5:8

--- models-inside-records-connectors-and-functions error check ---
model A
  Real x = 1;
end A;
record R
  A a;
end R;
connector C
  A a;
end C;
function f
  output Real y;
protected
  A a;
algorithm
  y := a.x;
end f;
model M
  R r;
  C c;
  Real y = f();
end M;

--- expect ---
exit: 3
error: a cannot be part of a record: A is a model
--> model.mo:5:5
error: a cannot be part of a connector: A is a model
--> model.mo:8:5
error: a cannot be part of a function: A is a model
--> model.mo:13:5

--- connectors-of-blocks-have-directions error check ---
connector Pin
  Real v;
  flow Real i;
end Pin;
block B
  Pin p;
  output Real y = 1;
equation
  p.v = 2;
end B;
model M
  B b;
end M;

--- expect ---
exit: 3
error: B is a block, but b.p.v in its connector is neither input nor output
--> model.mo:6:7

--- protected-connectors-of-blocks-need-none simulate --stop 0 ---
connector Pin
  Real v;
  flow Real i;
end Pin;
block B
  output Real y = p.v;
protected
  Pin p;
equation
  p.v = 2;
end B;
model M
  B b;
  Real y = b.y;
end M;

--- expect ---
time,b.y,b.p.v,b.p.i,y
0.0,2.0,2.0,0.0,2.0

--- names-of-types-are-taken error check ---
model M
  type Real = Integer;
  Integer String = 1;
  Integer 'Boolean' = 2;
end M;

--- expect ---
exit: 3
error: Real is a type of the language: nothing else can have its name
--> model.mo:2:8
error: String is a type of the language: nothing else can have its name
--> model.mo:3:11

--- attributes-are-no-literals error check ---
model M
  type E = enumeration(start, stop);
  E e = E.stop;
end M;

--- expect ---
exit: 3
error: start is an attribute of enumerations and cannot be a literal
--> model.mo:2:24

--- operators-belong-to-operator-records error check ---
model M
  operator function '+'
    input Real a;
    input Real b;
    output Real c = a + b;
  algorithm
  end '+';
  Real x = '+'(1, 2);
end M;

--- expect ---
exit: 3
error: M.'+' stands outside of an operator record
--> model.mo:2:21

--- attributes-by-type error check ---
model M
  type E = enumeration(low, high);
  Boolean b(min = false) = true;
  Integer n(unit = "m", max = 3) = 1;
  E e(nominal = E.low, min = E.low) = E.low;
  String s(stateSelect = StateSelect.never, start = "") = "a";
  Real x(quantity = "Length", unit = "m", displayUnit = "mm", unbounded = false, stateSelect = StateSelect.avoid) = 1;
end M;

--- expect ---
exit: 3
error: Boolean has no attribute min
--> model.mo:3:13
error: Integer has no attribute unit
--> model.mo:4:13
has no attribute nominal
--> model.mo:5:7
error: String has no attribute stateSelect
--> model.mo:6:12

--- attributes-do-not-change error check ---
model M
  parameter Real p = 2;
  Real x(start = p, nominal = 2*p) = time;
  Real y(max = x) = time;
end M;

--- expect ---
exit: 3
error: y.max must be a parameter expression
--> model.mo:4:16
