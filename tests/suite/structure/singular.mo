Models without a solution for structural reasons: what is over- and under-determined, exit code 4.

--- no-equation-for-a-variable error check ---
model M
  Real x, y;
equation
  der(x) = -x;
end M;
--- expect ---
exit: 4
1 equations for 2 unknowns; not determined: y
model.mo:2:11
an equation is missing for one of: y

--- one-equation-too-many error check ---
model M
  Real x, y;
equation
  x = time;
  y = 2*x;
  x + y = 3;
end M;
--- expect ---
exit: 4
3 equations for 2 unknowns; determined more than once: x, y
model.mo:4:3
one of these equations is too many: x = time, y = 2*x, x + y = 3

--- both error check ---
model M
  Real a, b, c;
equation
  a = time;
  a = 2*time + 1;
  b + c = a;
end M;
--- expect ---
exit: 4
error: the model is structurally singular: 3 equations for 3 unknowns; not determined: b, c; determined more than once: a
--> model.mo:4:3

--- singular-although-the-counts-agree error check ---
model M
  Real x, y, z;
equation
  x = time;
  2*x = time + 1;
  y + z = x;
end M;
--- expect ---
exit: 4
error: the model is structurally singular: 3 equations for 3 unknowns; not determined: y, z; determined more than once: x
--> model.mo:4:3

--- unbalanced-component error check ---
connector Pin
  Real v;
  flow Real i;
end Pin;
model Bad
  Pin p;
  Real w;
equation
  p.v = p.i;
end Bad;
model M
  Bad b;
end M;
--- expect ---
exit: 4
error: the model is structurally singular: 0 equations for 1 unknowns; not determined: b.w
--> model.mo:7:8

--- singular-mode-entered-by-time error check ---
model M
  Real x, y;
equation
  if time < 1 then
    x = 1;
    y = 2;
  else
    x = 1;
    x = y - y + 3;
  end if;
end M;
--- expect ---
exit: 4
structurally singular in the mode time < 1 = false
determined more than once: x
one of these equations is too many: x = 1, x = 3
