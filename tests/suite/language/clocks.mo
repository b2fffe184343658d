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
