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
error: the run failed at time 1.0
y is not a number, computed from y = log(x)
--> model.mo:6:3

--- derivative-without-a-value-at-the-start error simulate ---
model M
  parameter Real p = 0;
  Real x(start = 1, fixed = true), y(start = 1, fixed = true);
equation
  der(x) = -sqrt(x - 2);
  der(y) = -1/p;
end M;
--- expect ---
exit: 5
error: initialization failed at time 0.0: der(x) is not a number, computed from der(x) + sqrt(x - 2) = 0
--> model.mo:5:3

--- solutions-end-at-the-start error simulate --stop 1 ---
// q = 0 at the start, and no q after it.
model M
  Real p(start = 1, fixed = true), q(start = 1);
equation
  der(p) = -p;
  p = q^2 + 1;
end M;
--- expect ---
exit: 6
error: the run failed at time 0.0001
1 simultaneous equation for q could not be solved; worst: p = q^2 + 1
--> model.mo:6:3

--- relation-without-a-value-in-a-branch error simulate ---
model M
  Real u, v;
equation
  if time < 2 then
    u = if sqrt(0.5 - time) > 0.1 then 1 else 2;
    v = u;
  else
    u = 1;
  end if;
end M;
--- expect ---
exit: 6
sqrt(0.5 - time) > 0.1 has no value, what it reads is not a number
--> model.mo:5:5

--- condition-of-branches-without-a-value error simulate ---
model M
  Real u, v;
equation
  if sqrt(0.5 - time) > -1 then
    u = 1;
    v = 2;
  else
    u = 2;
  end if;
end M;
--- expect ---
exit: 6
sqrt(0.5 - time) > -1 has no value, what it reads is not a number
--> model.mo:4:3

--- remainder-of-a-division-by-a-parameter-that-is-zero error simulate ---
model M
  parameter Real p = 0;
  Real x(start = 0.3, fixed = true), y;
equation
  der(x) = 1;
  y = mod(x, p);
end M;
--- expect ---
exit: 5
y is not a number, computed from y = x - floor(x/p)*p
--> model.mo:6:3

--- relation-without-a-value error simulate ---
model M
  Integer n(start = 0, fixed = true);
equation
  when sqrt(time - 0.5) > 0.1 then n = pre(n) + 1; end when;
end M;
--- expect ---
exit: 5
error: at time 0.0: sqrt(time - 0.5) > 0.1 has no value, what it reads is not a number
--> model.mo:4:8

--- relation-loses-its-value error simulate ---
model M
  Real x(start = 1, fixed = true);
  Real y = if sqrt(x - 0.5) > 0.3 then 1 else 2;
equation
  der(x) = -x;
end M;
--- expect ---
exit: 6
error: at time 0.
sqrt(x - 0.5) > 0.3 has no value, what it reads is not a number
--> model.mo:3:12

--- remainder-of-a-division-by-zero error simulate ---
model M
  Real y = mod(time, 0);
end M;
--- expect ---
exit: 5
y is not a number, computed from y = time/0
--> model.mo:2:12

--- no-consistent-mode error simulate --stop 1 ---
model M
  Real x;
  Boolean b;
equation
  b = not b;
  x = if b then 1 else 0;
end M;
--- expect ---
exit: 5
error: event iteration at time 0.0 finds no consistent values: b keeps alternating
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

--- message-with-values-of-all-types error simulate --stop 1 ---
model M
  type State = enumeration(idle, busy);
  State s = if time < 0.25 then State.idle else State.busy;
  parameter Integer big = 12345678;
equation
  assert(time < 0.5, "big = " + String(big) + ", late = " + String(time > 0.2) + ", state " + String(s) + " at "
    + String(time, significantDigits = 3));
end M;
--- expect ---
exit: 6
error: assertion failed at time 0.5: big = 12345678, late = true, state busy at 0.5

--- negative-delay error simulate --stop 1 ---
model M
  parameter Real T = -1;
  Real x = delay(time, T);
end M;
--- expect ---
exit: 6
error: the time of a delay is -1.0 at time 0.0: it must not be negative
--> model.mo:3:12

--- reinit-of-an-algebraic-variable error simulate --stop 1 ---
model M
  Real x(start = 0, fixed = true), y;
equation
  der(x) = 1;
  y = 2*x;
  when time > 0.5 then
    reinit(y, 0);
  end when;
end M;
--- expect ---
exit: 4
error: reinit needs a state: der(y) occurs in no equation

--- index-out-of-range-in-an-equation error simulate --stop 1 ---
model M
  Integer k = integer(5*time) + 1;
  Real v[3] = {1, 2, 3}*time;
  Real guarded = if k <= 3 then v[k] else 0;
  Real y = v[k];
end M;
--- expect ---
exit: 6
error: assertion failed at time 0.6: the index k is outside 1:3
--> model.mo:5:14

--- parameter-outside-its-bounds error simulate --stop 1 ---
model M
  parameter Real p(min = 0) = -1;
  Real x = p;
equation
  assert(x > 0, "x is not positive");
end M;
--- expect ---
exit: 5
warning: parameter p = -1.0 lies below its min 0.0
error: assertion failed at time 0.0: x is not positive

--- start-outside-bounds error simulate --stop 1 ---
model M
  Real x(start = 0.1, min = 5);
equation
  x^2 - x - 6 = 0;
  assert(time < 0.5, "enough");
end M;
--- expect ---
exit: 6
warning: x = -2.0 at the start lies below its min 5.0: no solution inside was found
--> model.mo:2:8
error: assertion failed at time 0.5: enough

--- assertions-hold-where-their-branch-is-not-chosen error simulate --stop 2 ---
model M
  Real x(start = 0, fixed = true), c, d;
equation
  der(x) = 1;
  if noEvent(x < 1.2) then
    c = 0;
  else
    c = 1;
    if noEvent(c > 0.5) then
      assert(noEvent(abs(time) <= 1.5), "inner");
    end if;
  end if;
  if x < 0.5 then
    d = 0;
  elseif x < 1 then
    d = 1;
    assert(x > 0.5 - 1e-6, "only while x is between a half and one");
  else
    d = 2;
    assert(x > 1 - 1e-6, "only while x is above one");
  end if;
end M;

--- expect ---
exit: 6
error: assertion failed at time 1.5
--> model.mo:10:7

--- solution-lost-at-a-point error simulate --stop 2 --solver bdf ---
model M
  Real h(start = 0, fixed = true), z(start = 0, fixed = true), o;
equation
  der(h) = 1;
  der(z) = o - z;
  o = max(0, o + h - 1);
end M;
--- expect ---
exit: 6
1 simultaneous equation for o could not be solved
--> model.mo:6:3

--- assertions-tell-when-they-cease-to-hold error simulate --stop 1 ---
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  assert(x < 0.3333, "x is high", AssertionLevel.warning);
  assert(x < 0.7777, "x is too high");
end M;
--- expect ---
exit: 6
warning: at time 0.3333
--> model.mo:5:3
error: assertion failed at time 0.7777: x is too high

--- solution-lost-whatever-the-solver error simulate --stop 2 ---
model M
  Real h(start = 0, fixed = true), z(start = 0, fixed = true), o;
equation
  der(h) = 1;
  der(z) = o - z;
  o = max(0, o + h - 1);
end M;
--- expect ---
exit: 6
1 simultaneous equation for o could not be solved
--> model.mo:6:3

--- a-surface-that-repels-is-left error simulate --stop 2 ---
model M
  Real x(start = 0.3, fixed = true), y(start = 1, fixed = true);
equation
  der(x) = if x*y > 0 then -1 else 1;
  der(y) = -1;
end M;
--- expect ---
exit: 0
warning: sliding along the boundary of x*y > 0 from time 0.3
warning: the boundary of x*y > 0 repels from time 1.0
both sides lead away from it
--> model.mo:4:3

--- several-solutions-are-told error simulate --stop 1 ---
model M
  Real y(start = 0), x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  y = (if y > 0.5 then 1 else 0) + 0*x;
  when x > 0.5 then
    n = pre(n) + 1;
  end when;
end M;
--- expect ---
exit: 0
warning: at time 0.0 the equations have several solutions: the one taken, where y > 0.5 is false, and one where the contrary holds
--> model.mo:6:3

--- states-below-the-tolerance-are-told error simulate --stop 1 ---
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1e-10*cos(time);
end M;
--- expect ---
exit: 0
warning: x stays below
the absolute tolerance is 1.0e-8: give it a nominal value of its size, or --absolute
--> model.mo:2:8

--- long-conditions-are-cut error simulate --stop 1 --trace events ---
model M
  Real a(start = 0, fixed = true);
  Boolean b = sin(a)*cos(a)*exp(-a) + sin(2*a)*cos(2*a)*exp(-2*a) + sin(3*a)*cos(3*a)*exp(-3*a) + sin(4*a)*cos(4*a)*exp(-4*a) + sin(5*a)*cos(5*a)*exp(-5*a) + sin(7*a)*cos(7*a)*exp(-7*a) + sin(6*a) > 0.9;
equation
  der(a) = 1;
end M;
--- expect ---
exit: 0
state event: sin(a)*cos(a)*exp(-a) + sin(2*a)
 …
+ sin(6*a) > 0.9 became true

--- relations-in-while-loops-make-no-events error check ---
model M
  Real x(start = 0, fixed = true), s, y[3] = {x, 2*x, 3*x};
  Integer n, k;
equation
  der(x) = 1;
algorithm
  s := x;
  n := 0;
  while s > 1 loop
    s := s - 1;
    n := n + 1;
  end while;
algorithm
  k := 0;
  for i in 1:3 loop
    if y[i] > 2 then
      k := i;
      break;
    end if;
  end for;
end M;
--- expect ---
exit: 0
warning: s > 1 makes no events: in a while loop, or in a loop with break, it is taken as it stands
--> model.mo:9:9
warning: y[i] > 2 makes no events
--> model.mo:16:8

--- derivatives-in-conditions-are-shown error simulate --stop 4 --trace events ---
model M
  Real x(start = 0, fixed = true), y;
  Integer n(start = 0, fixed = true);
equation
  der(x) = cos(time);
  y = x^2 + 0.5*x;
  when der(y) < 0 then
    n = pre(n) + 1;
  end when;
end M;
--- expect ---
exit: 0
t = 1.57079633: state event: der(y) < 0 became true; n from 0 to 1
t = 3.394274
became false

--- all-that-alternate-are-named error simulate --stop 1 ---
model M
  Boolean b(start = false), c(start = true);
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  b = if x > 0.5 then not pre(c) else false;
  c = if x > 0.5 then pre(b) else true;
end M;
--- expect ---
exit: 6
finds no consistent values: c, b keep alternating
--> model.mo:7:3

--- sections-that-assign-nothing-are-run error simulate --stop 2 ---
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
algorithm
  assert(x < 1, "x is too large");
end M;
--- expect ---
exit: 6
x is too large
--> model.mo:6:3

--- events-that-creep-on-are-told error simulate --stop 1.5 --solver backward-euler --step 0.3 ---
model M
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h <= 0 and v < 0 then
    reinit(v, -0.8*pre(v));
    n = pre(n) + 1;
  end when;
end M;
--- expect ---
exit: 6
error: the run does not get past time 0.57581
--> model.mo:7:8

--- a-when-equation-without-pre error check ---
model M
  Integer n(start = 0, fixed = true);
  Boolean b(start = false, fixed = true);
  discrete Real r(start = 0, fixed = true);
equation
  when time > 0.5 then
    n = n + 1;
    b = not b;
    r = r + 1;
  end when;
end M;
--- expect ---
exit: 3
error: this equation does not determine n: on both sides of it stands the value after the event
--> model.mo:7:5
help: the value before the event is pre(n)
this equation does not determine b
this equation does not determine r

--- when-equations-that-contradict-each-other error simulate ---
model M
  Integer n(start = 0, fixed = true), k(start = 0, fixed = true);
equation
  when time > 0.5 then
    n = k + 1;
    k = n + 1;
  end when;
end M;
--- expect ---
exit: 6
error: event handling failed at time 0.5: the when-equations of n, k do not determine them
--> model.mo:4:3
those before it are pre(…)

--- a-solution-that-ends-in-a-fold error simulate --fold error ---
model M
  Real x(start = -1), y(start = 0, fixed = true);
equation
  x^3 - x = 0.2*time;
  der(y) = x;
  annotation(experiment(StopTime = 6));
end M;
--- expect ---
exit: 6
error: the solution ends at time 1.92450
beyond, nothing near x = -0.57735
solves x^3 - x = 0.2*time
--> model.mo:4:3

--- a-fold-that-no-derivative-needs error simulate --fold error ---
model M
  Real x(start = -1), y(start = 0, fixed = true);
equation
  x^3 - x = 0.2*y;
  der(y) = 1;
  annotation(experiment(StopTime = 6));
end M;
--- expect ---
exit: 6
error: the solution ends at time 1.92450
beyond, nothing near x = -0.57735

--- a-step-that-ends-at-a-fold error simulate --fold error --solver bdf --tolerance 1e-4 --stop 4 ---
// The last step before it ends within rounding of the fold.
model M
  Real x(start = -1.1), z(start = 0, fixed = true);
equation
  x^3 - x = 0.2*time;
  der(z) = x;
end M;
--- expect ---
exit: 6
error: the solution ends at time 1.92450
beyond, nothing near x = -0.57735

--- a-fold-that-the-implicit-form-steps-over error simulate --fold error --solver dae --tolerance 1e-3 --stop 3 ---
// Newton's method on the whole system ends within its tolerance a little beyond the fold.
model M
  Real x(start = -1), z(start = 0, fixed = true);
equation
  x^3 - x = 0.2*time;
  der(z) = x;
end M;
--- expect ---
exit: 6
error: the solution ends at time 1.9245
beyond, nothing near x = -0.577

--- a-loop-far-faster-than-a-fixed-step error simulate --solver rk4 --step 1e-3 --stop 0.53 ---
// A comparator: its output turns round within a millionth of a second.
model M
  Real v(start = 5, fixed = true), u;
  Boolean high = u > 5, low = u < -5;
equation
  u = 1e4*(0.4*v - 4*sin(time));
  1e-3*der(v) = (if high then 5 elseif low then -5 else u) - v;
end M;
--- expect ---
exit: 6
error: the fixed step 0.001 is too large for rk4
1000 events in a row, of u > 5
have come within one step
--> model.mo:4:18

--- a-root-that-leaves-its-domain error simulate --tolerance 1e-3 --stop 3 ---
// Told as of when its argument went below zero.
model M
  Real x(start = 1, fixed = true), y, z(start = 0, fixed = true);
  Boolean late = time > 0.5;
equation
  der(x) = -1;
  y = if late then sqrt(x) else 0;
  der(z) = y;
end M;
--- expect ---
exit: 6
the run failed at time 1.0000001
y is not a number, computed from y = if late then sqrt(x) else 0
--> model.mo:7:3

--- a-fold-without-states error simulate --fold error ---
model M
  Real x(start = -1), z(start = 1);
equation
  x^3 - x = 0.2*time;
  z*exp(z) = 2 + x;
  annotation(experiment(StopTime = 6));
end M;
--- expect ---
exit: 6
error: the solution ends at time 1.92450
beyond, nothing near x = -0.57735

--- one-state-reset-twice-at-once error simulate ---
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = 0;
  when time > 0.5 then
    reinit(x, 2);
  end when;
  when time > 0.5 then
    reinit(x, 3);
  end when;
end M;
--- expect ---
exit: 6
error: at time 0.5: x is reset to 2 and to 3 at once
--> model.mo:8:3
against this one

--- no-solution-below-a-root error simulate ---
model M
  Real x(start = 1);
equation
  sqrt(x) = -1 - time;
end M;
--- expect ---
exit: 5
1 simultaneous equation for x could not be solved
--> model.mo:4:3

--- the-solution-ends-at-a-root error simulate --stop 2 ---
model M
  Real q, p(start = 0.5), y(start = 1, fixed = true);
equation
  q = sqrt(p);
  q + p = y;
  der(y) = -1;
end M;
--- expect ---
exit: 6
q is not a number, computed from q = sqrt(p)

--- an-Integer-divided-by-zero error simulate --stop 1 --intervals 2 ---
model M
  Integer n(start = 0, fixed = true);
equation
  when time >= 0.5 then
    n = div(1, pre(n));
  end when;
end M;
--- expect ---
exit: 6
error: at time 0.5: n is inf
--> model.mo:4:3

--- a-reinit-to-what-is-no-number error simulate --stop 1 --intervals 2 ---
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = 1;
  when time >= 0.5 then
    reinit(x, sqrt(-x));
  end when;
end M;
--- expect ---
exit: 6
error: at time 0.5: x is reset to NaN
--> model.mo:5:3

--- integers-and-relations-that-contradict-each-other error simulate --stop 1 ---
model M
  Integer m(start = 5, fixed = true);
  Boolean b = m > 0;
equation
  m = if b and time > 0.5 then 0 else 5;
end M;
--- expect ---
exit: 6
error: event handling failed at time 0.5: no consistent values of b, m: every choice contradicts itself (3 tried)
--> model.mo:3:11
tried first: b = true, m = 5; b = true, m = 0; b = false, m = 5

--- discrete-real-divided-by-zero error simulate ---
model M
  Real x(start = 0, fixed = true);
  Integer y(start = 1, fixed = true);
  discrete Real z(start = 0, fixed = true);
equation
  der(x) = 1;
  when time > 0.5 then
    y = 0;
    z = 1/y;
  end when;
end M;
--- expect ---
exit: 6
error: at time 0.5: z is inf, no value it can have
--> model.mo:7:3

--- integer-beyond-what-is-exact error simulate ---
model M
  Integer k(start = 1, fixed = true);
equation
  when sample(0, 0.01) then k = pre(k)*10; end when;
end M;
--- expect ---
exit: 6
error: at time 0.15: k is 10000000000000000, no value it can have
--> model.mo:4:3

--- largest-exact-integer simulate --intervals 1 ---
model M
  Integer n(start = 9007199254740990, fixed = true);
equation
  when time > 0.5 then n = pre(n) + 1; end when;
end M;
--- expect ---
time,n
0.0,9007199254740990.0
0.5,9007199254740990.0
0.5,9007199254740991.0
1.0,9007199254740991.0

--- delay-beyond-its-maximum error simulate ---
model M
  Real x(start = 0, fixed = true), y;
equation
  der(x) = 1;
  y = delay(x, 2*time, 0.5);
end M;
--- expect ---
exit: 6
error: the time of a delay is 0.52374 at time 0.26187: delayMax is 0.5
--> model.mo:5:7

--- counting-without-end error simulate ---
model M
  Integer n(start = 0), m(start = 0);
equation
  n = pre(m) + 1;
  m = n;
end M;
--- expect ---
exit: 5
error: event iteration at time 0.0 finds no consistent values: n keeps growing
--> model.mo:4:3
in a when-clause it changes once

--- subscript-outside-shows-its-value error simulate ---
model M
  Integer k(start = 1, fixed = true);
  Real a[3] = {1, 2, 3}, y;
equation
  when sample(0.25, 0.25) then k = pre(k) + 1; end when;
  y = a[k];
end M;
--- expect ---
exit: 6
error: assertion failed at time 0.75: the index k is outside 1:3: it is 4
--> model.mo:6:9

--- a-division-of-integers-by-zero error simulate --stop 2 ---
model M
  Integer n = integer(time);
  Integer k = div(5, n);
end M;

--- expect ---
exit: 5
k is not a number
--> model.mo:3:11

--- samples-that-leave-no-time-between-them error simulate --stop 2 ---
model M
  Integer n(start = 0, fixed = true);
equation
  when sample(0, 1e-300) then
    n = pre(n) + 1;
  end when;
end M;

--- expect ---
exit: 6
2000 time events in a row, of sample(0, 1e-300)
--> model.mo:4:8

--- a-condition-that-reads-what-its-clause-sets error simulate --stop 1 ---
model M
  Real x(start = -0.5, fixed = true), v(start = 1, fixed = true), f;
  Integer m(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = f;
  when m == 0 and x >= 0 then
    m = 1;
  end when;
  if m == 1 then
    v = 0;
  else
    f = 0;
  end if;
end M;
--- expect ---
exit: 6
the condition of a when-clause reads m, which the clause sets: its value before the event is pre(m)
