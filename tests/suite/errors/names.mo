Names and types: file, line, what was meant.

--- unknown-variable-with-a-suggestion error check ---
model M
  Real velocity = 1;
  Real x = velocty + 1;
end M;
--- expect ---
exit: 3
error: velocty is not known in M
--> model.mo:3:12
help: did you mean velocity?

--- unknown-class error check ---
model Resistor
end Resistor;
model M
  Resister r;
end M;
--- expect ---
exit: 3
error: the class Resister is not known here
--> model.mo:4:3

--- unknown-function error check ---
model M
  Real x = sine(time);
end M;
--- expect ---
exit: 3
error: sine is not known in M
--> model.mo:2:12

--- unknown-field error check ---
record R
  Real a;
end R;
model M
  R r(a = 1);
  Real x = r.b;
end M;
--- expect ---
exit: 3
error: r (a R) has no b
--> model.mo:6:14

--- several-at-once error check ---
model M
  Real x = a;
  Real y = b;
equation
  z = 3;
end M;
--- expect ---
exit: 3
error: a is not known in M
--> model.mo:2:12
error: b is not known in M
--> model.mo:3:12
error: z is not known in M
--> model.mo:5:3

--- duplicate-declaration error check ---
model M
  Real x = 1;
  Real x = 2;
end M;
--- expect ---
exit: 3
error: x is declared twice in M
--> model.mo:3:8

--- partial-model-is-not-run error check --model M ---
partial model M
  Real x = 1;
end M;

--- expect ---
exit: 3
error: M is partial and cannot be simulated
--> model.mo:1:15

--- recursive-extends error check ---
model A
  extends B;
end A;
model B
  extends A;
end B;
--- expect ---
exit: 3
error: the class B extends itself
--> model.mo:4:7

--- recursive-component error check ---
model A
  A a;
end A;
--- expect ---
exit: 3
error: A contains itself: the model would hold a, and so on without end
--> model.mo:2:5

--- cyclic-parameters error check ---
model M
  parameter Real p = q;
  parameter Real q = p;
  Real x = p;
end M;
--- expect ---
exit: 4
error: parameter q depends on itself through p
--> model.mo:3:18

--- too-many-arguments error check ---
function f
  input Real x;
  output Real y = x;
algorithm
end f;
model M
  Real z = f(1, 2);
end M;
--- expect ---
exit: 3
error: too many arguments for f, which has 1 inputs
--> model.mo:7:12

--- assignment-to-a-parameter error check ---
model M
  parameter Real p = 1;
equation
  p = 2;
end M;
--- expect ---
exit: 3
error: p is a parameter: an equation cannot determine it
--> model.mo:4:3

--- condition-is-not-boolean error check ---
model M
  Real x = if 1 then 2 else 3;
end M;
--- expect ---
exit: 3
error: the condition must be a Boolean, not Integer
--> model.mo:2:12
