Clocked integration: der(x) = x + u with u = 10 t, x(0) = 1, by hand for h = 1/2.

Explicit Euler: x1 = 1 + h*1 = 1.5; x2 = 1.5 + h*(1.5 + 5) = 4.75.
Midpoint: d0 = 1, x1 = 1 + h*(1 + h/2*1 + 2.5) = 2.875; d1 = 7.875, x2 = 2.875 + h*(2.875 + h/2*7.875 + 7.5) = 9.046875.
Runge-Kutta: k2 = 1.25 + 2.5 = 3.75, k3 = 1 + 0.25*3.75 + 2.5 = 4.4375, k4 = 1 + 0.5*4.4375 + 5 = 8.21875,
x1 = 1 + (1 + 7.5 + 8.875 + 8.21875)/12 = 3.1328125.

--- explicit-euler-by-a-clock simulate --stop 1 --intervals 1 ---
model M
  Real x(start = 1);
equation
  when Clock(Clock(0.5), solverMethod = "ExplicitEuler") then
    der(x) = x + 10*sample(time);
  end when;
end M;
--- expect ---
time,x
0.0,1.0
0.5,1.0
0.5,1.5
1.0,1.5
1.0,4.75

--- midpoint-by-a-clock simulate --stop 1 --intervals 1 ---
model M
  Real x(start = 1);
equation
  when Clock(Clock(0.5), solverMethod = "ExplicitMidPoint2") then
    der(x) = x + 10*sample(time);
  end when;
end M;
--- expect ---
time,x
0.0,1.0
0.5,1.0
0.5,2.875
1.0,2.875
1.0,9.046875

--- runge-kutta-by-a-clock simulate --stop 0.5 --intervals 1 ---
model M
  Real x(start = 1), u, d;
equation
  u = 10*sample(time);
  d = x + u;
  when Clock(Clock(0.5), solverMethod = "ExplicitRungeKutta4") then
    der(x) = d;
  end when;
end M;
--- expect ---
time,x,u,d
0.0,1.0,0.0,1.0
0.5,1.0,0.0,1.0
0.5,3.1328125,5.0,8.1328125

--- no-such-method-of-a-clock error check ---
model M
  Real x(start = 1);
equation
  when Clock(Clock(0.5), solverMethod = "ExplicitRungeKuta4") then
    der(x) = -x;
  end when;
end M;
--- expect ---
exit: 3
error: not supported yet: the solver method ExplicitRungeKuta4 of a clock
help: did you mean ExplicitRungeKutta4?

--- algorithms-in-states simulate --stop 6 --intervals 1 ---
model M
  inner Integer v(start = 0);
  block Up
    outer output Integer v;
  algorithm
    v := previous(v) + 1;
  end Up;
  block Down
    outer output Integer v;
    Integer n(start = 0);
  algorithm
    n := previous(n) + 1;
    v := previous(v) - 2;
  end Down;
  Up up;
  Down down;
equation
  initialState(up);
  transition(up, down, v >= 3, immediate = false);
  transition(down, up, v <= 1, immediate = false);
end M;
--- expect ---
time,v,down.n
0.0,1,0
1.0,1,0
1.0,2,0
2.0,2,0
2.0,3,0
3.0,3,0
3.0,1,1
4.0,1,1
4.0,2,1
5.0,2,1
5.0,3,1
6.0,3,1
6.0,1,1

--- a-signal-times-zero-keeps-its-clock simulate --stop 1 --intervals 2 ---
model M
  Real u = sample(1, Clock(Clock(1, 4), solverMethod = "ImplicitEuler"));
  Real x(start = 1, fixed = true);
  Real y = hold(x);
equation
  der(x) = -x + 0*u;
end M;
--- expect ---
time,u,x,y
0.0,1.0,1.0,1.0
0.25,1.0,1.0,1.0
0.25,1.0,0.8,0.8
0.5,1.0,0.8,0.8
0.5,1.0,0.64,0.64
0.75,1.0,0.64,0.64
0.75,1.0,0.512,0.512
1.0,1.0,0.512,0.512
1.0,1.0,0.4096,0.4096

--- a-clock-that-begins-before-its-base error check ---
model M
  Real u = sample(time, Clock(0.1));
  Real y = hold(backSample(u, 1));
end M;
--- expect ---
exit: 3
model.mo:3
backSample would begin before

--- a-negative-factor error check ---
model M
  Real u = sample(time, Clock(0.1));
  Real y = hold(subSample(u, -1));
end M;
--- expect ---
exit: 3
model.mo:3
the factor of subSample must not be negative

--- when-clauses-in-clocked-ones error check ---
model M
  Real x(start = 0);
equation
  when Clock(0.1) then
    when time > 0.5 then
      x = 1;
    end when;
  end when;
end M;
--- expect ---
exit: 3
model.mo:5
a when-clause cannot stand inside one that a clock drives

--- a-clock-whose-interval-varies simulate --stop 0.013 --intervals 1 ---
// Section 16.3: the clock ticks at 0, 0.003, 0.007, 0.012; interval() is what was said at the tick before.
model M
  Integer n(start = 2);
  Integer count(start = 0);
  Real since;
  Integer ticks = hold(count);
  Real last = hold(since);
equation
  when Clock(n, 1000) then
    n = previous(n) + 1;
    count = previous(count) + 1;
    since = interval();
  end when;
end M;
--- expect ---
time,n,count,since,ticks,last
0.0,3,1,0.002,1,0.002
0.003,3,1,0.002,1,0.002
0.003,4,2,0.003,2,0.003
0.007,4,2,0.003,2,0.003
0.007,5,3,0.004,3,0.004
0.012,5,3,0.004,3,0.004
0.012,6,4,0.005,4,0.005
0.013,6,4,0.005,4,0.005

--- a-clock-whose-real-interval-varies simulate --stop 1 --intervals 1 ---
// Section 16.3: a Real interval counts as the tick before set it, the first one by its start value. Ticks at 0, 0.1, 0.3, 0.7.
model M
  Real next(start = 0.1);
  Integer count(start = 0);
  Integer ticks = hold(count);
equation
  when Clock(next) then
    next = 2*previous(next);
    count = previous(count) + 1;
  end when;
end M;
--- expect ---
time,next,count,ticks
0.0,0.2,1,1
0.1,0.2,1,1
0.1,0.4,2,2
0.30000000000000004,0.4,2,2
0.30000000000000004,0.8,3,3
0.7000000000000001,0.8,3,3
0.7000000000000001,1.6,4,4
1.0,1.6,4,4

--- a-varying-clock-super-sampled simulate --stop 0.008 --intervals 1 ---
// The clock ticks at 0, 0.003, 0.007; thirds of its intervals are 1/1000 s and 4/3000 s. The first interval() is a third of
// what the start value says.
model M
  Integer n(start = 2);
  Integer count(start = 0);
  Real since;
  Clock c = Clock(n, 1000);
equation
  when c then
    n = previous(n) + 1;
  end when;
  when superSample(c, 3) then
    count = previous(count) + 1;
    since = interval();
  end when;
end M;
--- expect ---
time,n,count,since,c
0.0,3,1,0.0006666666666666666,false
0.0009999999999999996,3,1,0.0006666666666666666,false
0.0009999999999999996,3,2,0.0009999999999999996,false
0.002,3,2,0.0009999999999999996,false
0.002,3,3,0.0010000000000000005,false
0.003,3,3,0.0010000000000000005,false
0.003,4,4,0.001,false
0.004333333333333333,4,4,0.001,false
0.004333333333333333,4,5,0.001333333333333333,false
0.005666666666666667,4,5,0.001333333333333333,false
0.005666666666666667,4,6,0.001333333333333334,false
0.007,4,6,0.001333333333333334,false
0.007,5,7,0.001333333333333333,false
0.008,5,7,0.001333333333333333,false

--- a-varying-clock-back-from-a-shifted-one simulate --stop 1.2 --intervals 1 ---
// Ticks at 0, 0.2, 0.5, 0.9; half an interval later at 0.1, 0.35, 0.7; a quarter of it later at 0.05, 0.275, 0.6: the value
// there is the one half an interval after the tick before.
model M
  Integer n(start = 1);
  Integer late, early;
equation
  when Clock(n, 10) then
    n = previous(n) + 1;
  end when;
  late = shiftSample(n, 1, 2);
  early = backSample(late, 1, 4);
end M;
--- expect ---
time,n,late,early
0.0,2,0,0
0.04999999999999999,2,0,0
0.04999999999999999,2,0,0
0.1,2,0,0
0.1,2,2,0
0.15000000000000002,2,2,0
0.15000000000000002,2,2,0
0.2,2,2,0
0.2,3,2,0
0.275,3,2,0
0.275,3,2,2
0.35,3,2,2
0.35,3,3,2
0.425,3,3,2
0.425,3,3,2
0.5,3,3,2
0.5,4,3,2
0.6,4,3,2
0.6,4,3,3
0.7,4,3,3
0.7,4,4,3
0.8,4,4,3
0.8,4,4,3
0.9,4,4,3
0.9,5,4,3
1.025,5,4,3
1.025,5,4,4
1.15,5,4,4
1.15,5,5,4
1.2,5,5,4

--- super-and-sub-sampling-of-a-varying-clock simulate --stop 0.6 --intervals 1 ---
// subSample(superSample(u, 2), 2) is on the clock of u; three halves of an interval: at 0, 0.35.
model M
  Integer n(start = 1);
  Integer same;
  Integer slow;
equation
  when Clock(n, 10) then
    n = previous(n) + 1;
    same = 10*n + subSample(superSample(n, 2), 2);
  end when;
  slow = subSample(superSample(n, 2), 3);
end M;
--- expect ---
time,n,same,slow
0.0,2,22,2
0.1,2,22,2
0.1,2,22,2
0.2,2,22,2
0.2,3,33,2
0.35,3,33,2
0.35,3,33,3
0.5,3,33,3
0.5,4,44,3
0.6,4,44,3

--- super-sampling-inside-the-ticks-of-an-event-clock simulate --stop 10 --intervals 1 ---
// Section 16.5.2: superSample(subSample(u, 4), 2) is subSample(u, 2). u ticks at 1, 3, 5, 7, 9.
model M
  Boolean odd = integer(time) - 2*integer(time/2) > 0;
  Integer u(start = 0) = previous(u) + sample(1, Clock(odd));
  Integer slow = subSample(u, 4);
  Integer twice(start = 0) = previous(twice) + superSample(slow, 2);
end M;
--- expect ---
time,odd,u,slow,twice
0.0,false,0,0,0
1.0,false,0,0,0
1.0,true,1,1,1
2.0,true,1,1,1
2.0,false,1,1,1
3.0,false,1,1,1
3.0,true,2,1,1
4.0,true,2,1,1
4.0,false,2,1,1
5.0,false,2,1,1
5.0,true,3,1,2
6.0,true,3,1,2
6.0,false,3,1,2
7.0,false,3,1,2
7.0,true,4,1,2
8.0,true,4,1,2
8.0,false,4,1,2
9.0,false,4,1,2
9.0,true,5,5,7
10.0,true,5,5,7
10.0,false,5,5,7

--- the-default-clock-is-that-of-the-fastest simulate --stop 6.5 --intervals 1 ---
// a ticks every second: 7 times until 6.5; b every other: 4 times.
model M
  Integer a(start = 0) = previous(a) + 1;
  Integer b(start = 0) = previous(b) + 1;
  Integer sum = subSample(a, 2) + b;
  Integer na = hold(a), nb = hold(b);
end M;
--- expect ---
time,a,b,sum,na,nb
0.0,1,1,2,1,1
1.0,1,1,2,1,1
1.0,2,1,2,2,1
2.0,2,1,2,2,1
2.0,3,2,5,3,2
3.0,3,2,5,3,2
3.0,4,2,5,4,2
4.0,4,2,5,4,2
4.0,5,3,8,5,3
5.0,5,3,8,5,3
5.0,6,3,8,6,3
6.0,6,3,8,6,3
6.0,7,4,11,7,4
6.5,7,4,11,7,4

--- the-default-clock-of-a-super-sampled-signal simulate --stop 6.5 --intervals 1 ---
// b is the faster one and ticks every second, 7 times until 6.5; a every third second: at 0, 3, 6.
model M
  Integer a(start = 0) = previous(a) + 1;
  Integer b(start = 0) = previous(b) + 1;
  Integer sum = superSample(a, 3) + b;
  Integer na = hold(a), nb = hold(b);
end M;
--- expect ---
time,a,b,sum,na,nb
0.0,1,1,2,1,1
1.0,1,1,2,1,1
1.0,1,2,3,1,2
2.0,1,2,3,1,2
2.0,1,3,4,1,3
3.0,1,3,4,1,3
3.0,2,4,6,2,4
4.0,2,4,6,2,4
4.0,2,5,7,2,5
5.0,2,5,7,2,5
5.0,2,6,8,2,6
6.0,2,6,8,2,6
6.0,3,7,10,3,7
6.5,3,7,10,3,7

--- the-first-interval-of-an-event-clock simulate --stop 1 --intervals 1 ---
// Ticks at 0.25 and 0.75: half a second between them, and 0.1 s is said for the first.
model M
  Real first(start = 0), since;
  Real a = hold(first), b = hold(since);
equation
  when Clock(sin(4*3.14159265358979*(time - 0.25)) > 0, startInterval = 0.1) then
    since = interval();
    first = if firstTick() then since else previous(first);
  end when;
end M;
--- expect ---
time,first,since,a,b
0.0,0.0,0.0,0.0,0.0
0.25000000000000006,0.0,0.0,0.0,0.0
0.25000000000000006,0.1,0.1,0.1,0.1
0.5000000000000003,0.1,0.1,0.1,0.1
0.5000000000000003,0.1,0.1,0.1,0.1
0.7500000000000006,0.1,0.1,0.1,0.1
0.7500000000000006,0.1,0.5000000000000004,0.1,0.5000000000000004
1.0,0.1,0.5000000000000004,0.1,0.5000000000000004
1.0,0.1,0.5000000000000004,0.1,0.5000000000000004

--- euler-on-an-event-clock simulate --stop 1 --intervals 1 ---
// Ticks at 0.25 and 0.75 with der(x) = 2: one step of half a second.
model M
  Clock c = Clock(Clock(sin(4*3.14159265358979*(time - 0.25)) > 0, startInterval = 0.1), "ExplicitEuler");
  Real x(start = 0);
  Real y = hold(x);
equation
  when c then
    der(x) = 2;
  end when;
end M;
--- expect ---
time,c,x,y
0.0,false,0.0,0.0
0.25000000000000006,false,0.0,0.0
0.25000000000000006,false,0.0,0.0
0.5000000000000003,false,0.0,0.0
0.5000000000000003,false,0.0,0.0
0.7500000000000006,false,0.0,0.0
0.7500000000000006,false,1.0000000000000009,1.0000000000000009
1.0,false,1.0000000000000009,1.0000000000000009
1.0,false,1.0000000000000009,1.0000000000000009

--- a-method-found-through-sub-sampling simulate --stop 1 --intervals 1 ---
// The method is said for u alone; x goes along der(x) = 1 from tick to tick of 0.2 s: at 0.8 it is 0.8 (1.0 at 1.0).
model M
  Real u = sample(1, Clock(Clock(1, 10), "ExplicitEuler"));
  Real s = subSample(u, 2);
  Real x(start = 0);
  Real y = hold(x);
equation
  der(x) = s;
end M;
--- expect ---
time,u,s,x,y
0.0,1.0,1.0,0.0,0.0
0.1,1.0,1.0,0.0,0.0
0.1,1.0,1.0,0.0,0.0
0.2,1.0,1.0,0.0,0.0
0.2,1.0,1.0,0.2,0.2
0.30000000000000004,1.0,1.0,0.2,0.2
0.30000000000000004,1.0,1.0,0.2,0.2
0.4,1.0,1.0,0.2,0.2
0.4,1.0,1.0,0.4,0.4
0.5,1.0,1.0,0.4,0.4
0.5,1.0,1.0,0.4,0.4
0.6000000000000001,1.0,1.0,0.4,0.4
0.6000000000000001,1.0,1.0,0.6000000000000001,0.6000000000000001
0.7000000000000001,1.0,1.0,0.6000000000000001,0.6000000000000001
0.7000000000000001,1.0,1.0,0.6000000000000001,0.6000000000000001
0.8,1.0,1.0,0.6000000000000001,0.6000000000000001
0.8,1.0,1.0,0.8,0.8
0.9,1.0,1.0,0.8,0.8
0.9,1.0,1.0,0.8,0.8
1.0,1.0,1.0,0.8,0.8
1.0,1.0,1.0,1.0,1.0

--- clocks-tick-from-the-start-of-the-run simulate --start -0.5 --stop 0.7 --intervals 1 ---
model M
  Integer n(start = 0);
equation
  when Clock(0.3) then
    n = previous(n) + 1;
  end when;
end M;
--- expect ---
time,n
-0.5,1
-0.2,1
-0.2,2
0.09999999999999998,2
0.09999999999999998,3
0.3999999999999999,3
0.3999999999999999,4
0.7,4
0.7,5

--- a-clock-whose-interval-becomes-zero error simulate --stop 3 ---
model M
  Integer i(start = 3);
equation
  when Clock(i, 10) then
    i = previous(i) - 1;
  end when;
end M;
--- expect ---
exit: 6
the interval of this clock is not positive
model.mo:4
