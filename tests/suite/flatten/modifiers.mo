Modifiers: the outer one wins, attributes merge, redeclarations replace.

--- outer-modifier-wins flatten ---
model A
  parameter Real p = 1;
  parameter Real q = 2*p;
  Real x = p + q;
end A;
model B
  extends A(p = 5);
end B;
model M
  B b(p = 7);
end M;
--- expect ---
model M
  parameter Real b.p = 7;
  parameter Real b.q = 2*b.p;
  Real b.x;
equation
  b.x = b.p + b.q;
end M;

--- attributes-merge flatten ---
type Voltage = Real(unit = "V", nominal = 100);
model A
  Voltage v(start = 1, fixed = true);
equation
  der(v) = -v;
end A;
model M
  A a(v(start = 3, min = -10));
end M;
--- expect ---
model M
  Real a.v(start = 3, min = -10, nominal = 100, unit = "V", fixed = true);
equation
  der(a.v) + a.v = 0;
end M;

--- modifier-sees-the-outer-scope flatten ---
model A
  parameter Real k = 1;
  Real x = k*time;
end A;
model M
  parameter Real k = 4;
  A a(k = k);
end M;
--- expect ---
model M
  parameter Real k = 4;
  parameter Real a.k = k;
  Real a.x;
equation
  a.x = a.k*time;
end M;

--- redeclare-with-a-constraining-type-drops-modifiers flatten ---
model Linear
  parameter Real k = 1;
  input Real u;
  Real y = k*u;
end Linear;
model Square
  extends Linear;
  Real z = u^2;
end Square;
model A
  replaceable Linear f(k = 2) constrainedby Linear;
equation
  f.u = time;
end A;
model M
  extends A(redeclare Square f);
end M;
--- expect ---
model M
  parameter Real f.k = 1;
  Real f.u;
  Real f.y;
  Real f.z;
equation
  f.y = f.k*f.u;
  f.z = f.u^2;
  f.u = time;
end M;

--- redeclare-keeps-modifiers flatten ---
model Linear
  parameter Real k = 1;
  Real y = k*time;
end Linear;
model Square
  extends Linear;
  Real z = y^2;
end Square;
model A
  replaceable Linear f(k = 2);
end A;
model M
  extends A(redeclare Square f);
end M;

--- expect ---
model M
  parameter Real f.k = 2;
  Real f.y;
  Real f.z;
equation
  f.y = f.k*time;
  f.z = f.y^2;
end M;

--- redeclare-type flatten ---
package Base
  model Part
    parameter Real p = 1;
  end Part;
  model Whole
    replaceable model P = Part;
    P part;
  end Whole;
end Base;
model Other
  extends Base.Part(p = 9);
  Real x = p;
end Other;
model M
  Base.Whole w(redeclare model P = Other);
end M;
--- expect ---
model M
  parameter Real w.part.p = 9;
  Real w.part.x;
equation
  w.part.x = w.part.p;
end M;

--- each-and-arrays flatten ---
model A
  parameter Real p = 0;
  parameter Real q = 0;
end A;
model M
  A a[3](each p = 7, q = {1, 2, 3});
end M;
--- expect ---
model M
  parameter Real a[1].p = 7;
  parameter Real a[1].q = 1;
  parameter Real a[2].p = 7;
  parameter Real a[2].q = 2;
  parameter Real a[3].p = 7;
  parameter Real a[3].q = 3;
equation
end M;

--- conditional-component flatten ---
model A
  Real x = time;
end A;
model M
  parameter Integer n = 1;
  A a if n == 2;
  A b if n == 1;
end M;

--- expect ---
model M
  parameter Integer n = 1;
  Real b.x;
equation
  b.x = time;
end M;

--- unknown-modifier error check ---
model A
  parameter Real p = 1;
end A;
model M
  A a(q = 2);
end M;
--- expect ---
exit: 3
error: A has no q to modify
--> model.mo:5:7
