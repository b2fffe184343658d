Failures with numbers: time, variable and source line are told.

--- division-by-zero-in-a-parameter error simulate ---
model M
  parameter Real a = 0;
  parameter Real p = 1/a;
  Real x = p*time;
end M;
--- expect ---
exit: 5
error: parameter p = 1/a is inf: division by zero or an argument outside its domain
--> model.mo:3:18

--- logarithm-leaves-its-domain error simulate --stop 2 ---
model M
  Real x(start = 1, fixed = true);
  Real y;
equation
  der(x) = -1;
  y = log(x);
end M;
--- expect ---
exit: 6
error: the run failed at time 1.0: y is not a number
--> model.mo:6:3
computed from y = log(x)

--- no-consistent-mode error simulate --stop 1 ---
model M
  Real x;
  Boolean b;
equation
  b = not b;
  x = if b then 1 else 0;
end M;
--- expect ---
exit: 6
error: event iteration at time 0.0 finds no consistent values: b keep alternating
--> model.mo:5:3

--- oscillating-discrete-variables error simulate --stop 1 ---
model M
  Boolean a(start = false, fixed = true);
  Real x = if a then 1 else 0;
equation
  a = time > 0.5 and not pre(a);
end M;
--- expect ---
exit: 6
event iteration at time 0.5 finds no consistent values

--- initial-values-conflict error simulate --stop 1 ---
model M
  Real x(start = 1, fixed = true);
  Real y(start = 5, fixed = true);
equation
  der(x) = -x;
  y = 2*x;
end M;
--- expect ---
exit: 5
error: initialization is over-determined and inconsistent at time 0.0: start value of y is off by -3.000000e0
--> model.mo:3:8

--- unsolvable-nonlinear-equation error simulate --stop 1 ---
model M
  Real x;
equation
  x^2 = -1 - time;
end M;
--- expect ---
exit: 5
error: initialization failed at time 0.0: 1 simultaneous equation for x could not be solved; worst: x^2 = -1 - time
--> model.mo:4:3

--- index-out-of-range-at-run-time error simulate --stop 1 ---
function pick
  input Real v[:];
  input Integer i;
  output Real y;
algorithm
  y := v[i];
end pick;
model M
  Integer k = integer(10*time) + 1;
  Real x = pick({1, 2, 3}, k);
end M;
--- expect ---
exit: 6
error: event handling failed at time 0.3: subscript 1 of v is 4, which is not between 1 and 3
--> model.mo:6:3
