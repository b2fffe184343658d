Clocks and state machines that cannot be.

--- a-clock-with-a-negative-interval error check ---
model M
  Real u = sample(time, Clock(-1));
end M;
--- expect ---
exit: 3
error: the interval of a clock must be positive
--> model.mo:2

--- a-clock-with-a-real-interval-of-zero error check ---
model M
  Real u = sample(time, Clock(0.0));
end M;
--- expect ---
exit: 3
error: the interval of a clock must be positive
--> model.mo:2

--- a-clock-without-resolution error check ---
model M
  Real u = sample(time, Clock(1, 0));
end M;
--- expect ---
exit: 3
error: the resolution of a clock must be positive
--> model.mo:2

--- a-factor-that-varies error check ---
model M
  Real u = sample(time, Clock(0.1));
  Integer k = integer(time) + 1;
  Real y = subSample(u, k);
end M;
--- expect ---
exit: 3
error: k is neither a parameter nor a constant, so its value is not known when compiling
--> model.mo:3

--- a-negative-super-sampling error check ---
model M
  Real u = sample(time, Clock(0.1));
  Real y = superSample(u, -2);
end M;
--- expect ---
exit: 3
error: the factor of superSample must not be negative
--> model.mo:3

--- a-factor-that-nothing-tells error check ---
model M
  Real u = sample(time, Clock(0.1));
  Real y = subSample(u);
end M;
--- expect ---
exit: 3
error: the factor between the two clocks cannot be inferred
--> model.mo:3

--- a-shift-into-the-past error check ---
model M
  Real u = sample(time, Clock(0.1));
  Real y = shiftSample(u, -2);
end M;
--- expect ---
exit: 3
error: the counter of shiftSample must not be negative
--> model.mo:3

--- a-shift-without-resolution error check ---
model M
  Real u = sample(time, Clock(0.1));
  Real y = shiftSample(u, 2, 0);
end M;
--- expect ---
exit: 3
error: the resolution of shiftSample must be positive
--> model.mo:3

--- super-sampling-of-an-event-clock error check ---
model M
  Real x = sin(time);
  Real u = sample(time, Clock(x > 0.5));
  Real y = superSample(u, 2);
end M;
--- expect ---
exit: 3
error: superSample would add ticks to a clock that ticks with
--> model.mo:4

--- parts-of-an-interval-of-an-event-clock error check ---
model M
  Real x = sin(time);
  Real u = sample(time, Clock(x > 0.5));
  Real y = shiftSample(u, 1, 2);
end M;
--- expect ---
exit: 3
error: a resolution other than 1 would add ticks to a clock that ticks with
--> model.mo:4

--- more-ticks-than-an-event-clock-has error check ---
// superSample(subSample(u, 4), 2) would be fine: it is subSample(u, 2).
model M
  Real x = sin(time);
  Real u = sample(time, Clock(x > 0.5));
  Real y = subSample(u, 4);
  Real z = superSample(y, 5);
end M;
--- expect ---
exit: 3
error: superSample would add ticks to a clock that ticks with
--> model.mo:6

--- an-event-clock-for-the-slower-of-two error check ---
model M
  Real x = sin(time);
  Real u(start = 0) = previous(u) + 1;
  Real y = sample(time, Clock(x > 0.5)) + subSample(u, 2);
end M;
--- expect ---
exit: 3
error: subSample would add ticks to a clock that ticks with
--> model.mo:4

--- back-before-a-varying-clock-begins error check ---
model M
  Integer n(start = 1);
  Integer late, early;
equation
  when Clock(n, 10) then
    n = previous(n) + 1;
  end when;
  late = shiftSample(n, 1, 2);
  early = backSample(late, 2, 3);
end M;
--- expect ---
exit: 3
error: backSample would begin before the clock that it goes back from
--> model.mo:9

--- parts-of-varying-clocks-that-do-not-meet error check ---
model M
  Integer n(start = 1);
  Integer sum;
equation
  when Clock(n, 10) then
    n = previous(n) + 1;
  end when;
  sum = superSample(n, 2) + superSample(n, 3);
end M;
--- expect ---
exit: 3
error: signals of different clocks meet

--- a-signal-and-its-sub-sampled-self error check ---
model M
  Real u = sample(time, Clock(0.1));
  Real v = subSample(u, 2);
  Real y = u + v;
end M;
--- expect ---
exit: 3
error: signals of different clocks meet

--- a-derivative-on-a-clock-without-a-method error check ---
model M
  Real u = sample(time, Clock(0.1));
  Real x(start = 0);
equation
  der(x) = u;
end M;
--- expect ---
exit: 3
error: x is differentiated, but its clock has no method of integration
--> model.mo:5
name one: Clock(c, solverMethod = "ExplicitEuler")

--- two-methods-meet error check ---
model M
  Real u = sample(1, Clock(Clock(1, 10), "ExplicitEuler"));
  Real v = sample(1, Clock(Clock(2, 10), "ImplicitEuler"));
  Real x(start = 0);
  Real s = subSample(u, 4) + subSample(v, 2);
equation
  der(x) = s;
end M;
--- expect ---
exit: 3
error: two methods of integration meet

--- time-on-a-clock error check ---
model M
  Real x(start = 0);
equation
  when Clock(0.1) then
    x = previous(x) + time;
  end when;
end M;
--- expect ---
exit: 0
warning: time is read on a clock without being sampled: its value at the tick is taken
--> model.mo:5

--- previous-of-a-signal-without-a-clock error check ---
model M
  Integer n(start = 0);
equation
  n = previous(n) + 1;
end M;
--- expect ---
exit: 0
warning: the clock of n cannot be inferred; one second is used
--> model.mo:2

--- two-initial-states error check ---
block S
  outer output Integer i;
equation
  i = previous(i) + 1;
end S;
model M
  inner Integer i(start = 0);
  S a, b;
equation
  initialState(a);
  initialState(b);
  transition(a, b, i > 2);
end M;
--- expect ---
exit: 3
--> model.mo:11

--- a-transition-that-asks-for-a-number error check ---
block S
  outer output Integer i;
equation
  i = previous(i) + 1;
end S;
model M
  inner Integer i(start = 0);
  S a, b;
equation
  initialState(a);
  transition(a, b, i);
end M;
--- expect ---
exit: 3
--> model.mo:11

--- a-transition-without-a-condition error check ---
block S
  outer output Integer i;
equation
  i = previous(i) + 1;
end S;
model M
  inner Integer i(start = 0);
  S a, b;
equation
  initialState(a);
  transition(a, b);
end M;
--- expect ---
exit: 3
--> model.mo:11

--- a-priority-of-zero error check ---
block S
  outer output Integer i;
equation
  i = previous(i) + 1;
end S;
model M
  inner Integer i(start = 0);
  S a, b;
equation
  initialState(a);
  transition(a, b, i > 2, priority = 0);
end M;
--- expect ---
exit: 3
--> model.mo:11

--- a-variable-as-a-state error check ---
model M
  Integer i(start = 0);
equation
  initialState(i);
  i = previous(i) + 1;
end M;
--- expect ---
exit: 3
--> model.mo:4

--- active-state-of-a-variable error check ---
model M
  Real x = time;
  Boolean b = activeState(x);
end M;
--- expect ---
exit: 3
--> model.mo:3

--- ticks-in-state-outside-of-a-machine error check ---
model M
  Integer k = ticksInState();
end M;
--- expect ---
exit: 3
--> model.mo:2

--- reinit-on-a-clock error check ---
model M
  Integer n(start = 0);
  Real x(start = 1, fixed = true);
equation
  der(x) = -x;
  when Clock(0.1) then
    n = previous(n) + 1;
    reinit(x, 2);
  end when;
end M;
--- expect ---
exit: 3
error: reinit cannot stand in a when-clause of a clock: clocked variables have no state that time moves
--> model.mo:8:5

--- sampling-interval-that-varies error check ---
model M
  Real x(start = 0.1, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  when sample(0, x) then n = pre(n) + 1; end when;
end M;
--- expect ---
exit: 3
error: the interval of sample must be a parameter expression
--> model.mo:6:18
