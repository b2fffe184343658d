Programs with mode slots: equations read what a relation was at the last event, relations are evaluated at events only.

--- a-slot-per-relation program ---
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = if x > 1 then -1 else 1;
end M;
--- expect ---
states
  x, der(x)
continuous
  der(x) := if x > 1 then -1 else 1
event
  x > 1 := x > 1
  der(x) := if x > 1 then -1 else 1
crossings
  x > 1: #1 := x - 1

--- slots-of-built-in-functions program ---
model M
  Real x(start = 0.5, fixed = true), a = abs(x), m = min(x, 0.25), f = floor(2*x);
equation
  der(x) = a + m + f;
end M;
--- expect ---
states
  x, der(x)
continuous
  a := abs(x)
  m := min(x, 0.25)
  f := floor(2*x)
  der(x) := a + m + f
event
  a := abs(x)
  m := min(x, 0.25)
  floor(2*x) := floor(2*x)
  f := floor(2*x)
  der(x) := a + m + f
crossings
  floor(2*x): #1 := 2*x

--- no-slot-without-events program ---
model M
  Real x(start = 0.5, fixed = true), a = noEvent(abs(x)), s = smooth(1, if x > 1 then (x - 1)^2 else 0);
equation
  der(x) = a + s;
end M;
--- expect ---
states
  x, der(x)
continuous
  a := abs(x)
  s := if x > 1 then (x - 1)^2 else 0
  der(x) := a + s

--- one-slot-for-equal-relations program ---
model M
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = if x > 1 then -1 else 1;
  der(y) = if x > 1 then 2 else 3;
end M;
--- expect ---
states
  x, der(x)
  y, der(y)
continuous
  der(x) := if x > 1 then -1 else 1
  der(y) := if x > 1 then 2 else 3
event
  x > 1 := x > 1
  der(x) := if x > 1 then -1 else 1
  der(y) := if x > 1 then 2 else 3
crossings
  x > 1: #1 := x - 1

--- watched-by-value program ---
model M
  discrete Integer i(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
equation
  when sample(0, 1) then
    i = pre(i) + 1;
  end when;
  der(x) = if i == 4 then 1 else 0;
end M;
--- expect ---
states
  x, der(x)
continuous
  der(x) := if i == 4 then 1 else 0
event
  when 1:
    i := pre(i) + 1
  i == 4 := i == 4
  der(x) := if i == 4 then 1 else 0
