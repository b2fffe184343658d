Types, variability and modifiers: what a model must not ask for.

--- integer-from-real error check ---
model M
  Integer n;
equation
  n = 2.5*time;
end M;
--- expect ---
x

--- integer-from-real-is-fine-the-other-way-round error check ---
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
x

--- integer-from-real-in-when error check ---
model M
  Integer n(start = 0);
equation
  when time > 0.5 then
    n = 2.7;
  end when;
end M;
--- expect ---
x

--- boolean-from-real error check ---
model M
  Boolean b;
  Real x = time;
equation
  b = x;
end M;
--- expect ---
x

--- string-in-arithmetic error check ---
model M
  Real x = "a" + 1;
end M;
--- expect ---
x

--- shapes error check ---
model M
  Real x[3];
equation
  x = {1, 2};
end M;
--- expect ---
x

--- parameter-in-an-equation error check ---
model M
  parameter Real p = 1;
  Real x = time;
equation
  p = 2;
end M;
--- expect ---
x

--- boolean-without-events error check ---
model M
  Boolean b = noEvent(time > 0.5);
end M;
--- expect ---
x

--- discrete-real-outside-when error check ---
model M
  discrete Real d;
equation
  d = time;
end M;
--- expect ---
x

--- branches-of-different-types error check ---
model M
  Real x = if time > 1 then 1 else true;
end M;
--- expect ---
x

--- array-of-different-types error check ---
model M
  Real x[2] = {1, false};
end M;
--- expect ---
x

--- final-declaration error check ---
model C
  final parameter Real p = 1;
end C;
model M
  C c(p = 2);
  Real x = c.p*time;
end M;
--- expect ---
x

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
x

--- final-attribute error check ---
type Length = Real(final unit = "m");
model M
  Length x(unit = "km") = time;
end M;
--- expect ---
x

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
x

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
x

--- unknown-import error check ---
model M
  import Nowhere.Thing;
  Thing t;
end M;
--- expect ---
x

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
x

--- missing-inner error check ---
model M
  model C
    outer Real T;
    Real x = T;
  end C;
  C c;
end M;
--- expect ---
x

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
x

--- unbalanced-model error check ---
model M
  Real x, y;
equation
  x = time;
end M;
--- expect ---
x
