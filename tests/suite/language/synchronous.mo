Clocks and the partitions they drive (Modelica 3.6, chapter 16).

--- sub-super-shift-back simulate --stop 0.25 --intervals 1 ---
model M
  Clock c = Clock(1,10);
  Real u = sample(time, c);
  Real v = subSample(u, 2);
  Real w = superSample(v, 2);
  Real s = shiftSample(u, 1, 2);
  Real b = backSample(shiftSample(u,4), 2);
  Real p = previous(u) ;
  Real h = hold(v);
  Real i = interval(u);
  Boolean f = firstTick(u);
  Real nc = noClock(v) + u;
  Real uu(start=0);
equation
  when Clock() then
    uu = previous(uu) + 1;
  end when;
end M;
--- expect ---
time,c,u,v,w,s,b,p,h,i,f,nc,uu
0.0,false,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.1,true,0.0,1.0
0.05,false,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.1,true,0.0,1.0
0.05,false,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.1,true,0.0,1.0
0.1,false,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.1,true,0.0,1.0
0.1,false,0.1,0.0,0.0,0.0,0.0,0.0,0.0,0.1,false,0.1,1.0
0.15000000000000002,false,0.1,0.0,0.0,0.0,0.0,0.0,0.0,0.1,false,0.1,1.0
0.15000000000000002,false,0.1,0.0,0.0,0.1,0.0,0.0,0.0,0.1,false,0.1,1.0
0.2,false,0.1,0.0,0.0,0.1,0.0,0.0,0.0,0.1,false,0.1,1.0
0.2,false,0.2,0.2,0.2,0.1,0.0,0.1,0.2,0.1,false,0.4,1.0
0.25,false,0.2,0.2,0.2,0.1,0.0,0.1,0.2,0.1,false,0.4,1.0
0.25,false,0.2,0.2,0.2,0.2,0.0,0.1,0.2,0.1,false,0.4,1.0

--- event-clock simulate --stop 0.7 --intervals 1 ---
model M
  Clock c = Clock(sin(20*time) > 0, 0.01);
  Integer n(start=0);
equation
  when c then
    n = previous(n)+1;
  end when;
end M;
--- expect ---
time,c,n
0.0,false,0
6.360245663472596e-16,false,0
6.360245663472596e-16,false,1
0.15707963267956096,false,1
0.15707963267956096,false,1
0.3141592653590505,false,1
0.3141592653590505,false,2
0.4712388980385222,false,2
0.4712388980385222,false,2
0.6283185307180296,false,2
0.6283185307180296,false,3
0.7,false,3

--- clock-inferred-inside-when simulate --stop 1 --intervals 1 ---
model M
  Real u = sample(time, Clock(0.25));
  Real y(start=0);
equation
  when Clock() then
    y = previous(y) + u;
  end when;
end M;
--- expect ---
time,u,y
0.0,0.0,0.0
0.25,0.0,0.0
0.25,0.25,0.25
0.5,0.25,0.25
0.5,0.5,0.75
0.75,0.5,0.75
0.75,0.75,1.5
1.0,0.75,1.5
1.0,1.0,2.5

--- two-clocks-in-one-equation error check ---
model M
  Real u = sample(time, Clock(0.25));
  Real v = sample(time, Clock(0.1));
  Real y = u + v;
end M;
--- expect ---
exit: 3
error: signals of different clocks meet: one ticks every 0.25 s, the other every 0.1 s
--> model.mo:3:25

--- solver-method-external simulate --stop 0.2 --intervals 2 ---
model M
  Clock c = Clock(Clock(0.1), solverMethod="External");
  Real x(start=1);
  Real u;
equation
  u = sample(1.0, c);
  der(x) = -x*u;
end M;

--- expect ---
time,c,x,u
0.0,false,1.0,1.0
0.1,false,1.0,1.0
0.1,false,0.9047619047619048,1.0
0.2,false,0.9047619047619048,1.0
0.2,false,0.81859410430839,1.0

--- sample-in-a-condition simulate --stop 0.55 --intervals 1 ---
// The clock of the when-clause, not one of its own: k counts the ticks at 0.3, 0.4 and 0.5.
model M
  Integer n(start = 0), k(start = 0);
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when Clock(0.1) then
    n = previous(n) + 1;
    if sample(x) > 0.25 then
      k = previous(k) + 1;
    else
      k = 0;
    end if;
  end when;
end M;
--- expect ---
time,n,k,x
0.0,1,0,0.0
0.1,1,0,0.1
0.1,2,0,0.1
0.2,2,0,0.2
0.2,3,0,0.2
0.30000000000000004,3,0,0.30000000000000004
0.30000000000000004,4,1,0.30000000000000004
0.4,4,1,0.4
0.4,5,2,0.4
0.5,5,2,0.5
0.5,6,3,0.5
0.55,6,3,0.55

--- sample-in-a-condition-of-a-partition simulate --stop 0.55 --intervals 1 ---
model M
  Integer n(start = 0), k(start = 0);
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when Clock(0.1) then
    n = previous(n) + 1;
  end when;
  if sample(x) > 0.25 then
    k = previous(k) + 1;
  else
    k = -n;
  end if;
end M;
--- expect ---
time,n,k,x
0.0,1,-1,0.0
0.1,1,-1,0.1
0.1,2,-2,0.1
0.2,2,-2,0.2
0.2,3,-3,0.2
0.30000000000000004,3,-3,0.30000000000000004
0.30000000000000004,4,-2,0.30000000000000004
0.4,4,-2,0.4
0.4,5,-1,0.4
0.5,5,-1,0.5
0.5,6,0,0.5
0.55,6,0,0.55

--- nested-if-equations-on-a-clock simulate --stop 0.65 --intervals 1 ---
// k = -1 -2 -3, then 3*n - 6 = 6 9, then 13 17.
model M
  Integer n(start = 0), j(start = 0), k(start = 0);
equation
  when Clock(0.1) then
    n = previous(n) + 1;
  end when;
  if n > 3 then
    if n > 5 then
      j = 7;
      k = previous(k) + 4;
    else
      k = n + 2*n - 6;
      j = -n;
    end if;
  else
    j = n;
    k = -n;
  end if;
end M;
--- expect ---
time,n,j,k
0.0,1,1,-1
0.1,1,1,-1
0.1,2,2,-2
0.2,2,2,-2
0.2,3,3,-3
0.30000000000000004,3,3,-3
0.30000000000000004,4,-4,6
0.4,4,-4,6
0.4,5,-5,9
0.5,5,-5,9
0.5,6,7,13
0.6000000000000001,6,7,13
0.6000000000000001,7,7,17
0.65,7,7,17

--- assertion-on-a-clock error simulate --stop 0.55 ---
model M
  Integer n(start = 0);
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when Clock(0.1) then
    n = previous(n) + 1;
    assert(sample(x) < 0.35, "x is too large");
  end when;
end M;
--- expect ---
exit: 6
error: assertion failed at time 0.4: x is too large
--> model.mo:8:5

--- assertion-before-the-first-tick simulate --stop 1 --intervals 1 ---
// It is asked at ticks, of which the first is at 0.5; before that y has its start value.
model M
  Real y(start = -1);
equation
  when shiftSample(Clock(0.5), 1) then
    y = sample(time);
    assert(y > 0.4, "y is too small");
  end when;
end M;
--- expect ---
time,y
0.0,-1.0
0.5,-1.0
0.5,0.5
1.0,0.5
1.0,1.0

--- terminate-on-a-clock simulate --stop 1 --intervals 1 ---
model M
  Integer n(start = 0);
equation
  when Clock(0.1) then
    n = previous(n) + 1;
    if n > 4 then
      terminate("enough");
    end if;
  end when;
end M;
--- expect ---
time,n
0.0,1
0.1,1
0.1,2
0.2,2
0.2,3
0.30000000000000004,3
0.30000000000000004,4
0.4,4
0.4,5

--- sampled-derivative simulate --stop 1 --intervals 1 ---
// -exp(-t) at the ticks, and exp(-t) - 2*exp(-t).
model M
  Real x(start = 1, fixed = true), a, b;
equation
  der(x) = -x;
  a = sample(der(x), Clock(0.25));
  when Clock(0.5) then
    b = sample(2*der(x) + x);
  end when;
end M;
--- expect ---
time,x,a,b
0.0,1.0,-1.0,-1.0
0.25,0.7788008060890337,-1.0,-1.0
0.25,0.7788008060890337,-0.7788008060890337,-1.0
0.5,0.606530677641237,-0.7788008060890337,-1.0
0.5,0.606530677641237,-0.606530677641237,-0.606530677641237
0.75,0.47236656670382604,-0.606530677641237,-0.606530677641237
0.75,0.47236656670382604,-0.47236656670382604,-0.606530677641237
1.0,0.3678794520456907,-0.47236656670382604,-0.606530677641237
1.0,0.3678794520456907,-0.3678794520456907,-0.3678794520456907

--- inverse-model-on-a-clock simulate --stop 0.3 --intervals 1 ---
// u = (r - previous(r))/h + r from the second tick on.
model M
  Real r, x(start = 0), u;
equation
  r = sample(sin(time), Clock(Clock(0.1), solverMethod = "ImplicitEuler"));
  der(x) = -x + u;
  x = r;
end M;
--- expect ---
time,r,x,u
0.0,0.0,0.0,0.0
0.1,0.0,0.0,0.0
0.1,0.09983341664682815,0.09983341664682815,1.0981675831151096
0.2,0.09983341664682815,0.09983341664682815,1.0981675831151096
0.2,0.19866933079506122,0.19866933079506122,1.1870284722773918
0.3,0.19866933079506122,0.19866933079506122,1.1870284722773918
0.3,0.29552020666133955,0.29552020666133955,1.2640289653241228

--- inverse-model-with-an-explicit-method error check ---
model M
  Real r, x(start = 0), u;
equation
  r = sample(sin(time), Clock(Clock(0.1), solverMethod = "ExplicitEuler"));
  der(x) = -x + u;
  x = r;
end M;
--- expect ---
exit: 3
error: the clock's explicit method needs the derivative of this value, which has values at ticks only
--> model.mo:4:3
filter it first
Clock(c, solverMethod = "ImplicitEuler")

--- filtered-inverse-model-on-a-clock simulate --stop 1 --intervals 1 ---
// y = x = 0, 1/2, 3/4 by Euler, u = der(y) + 2 y = 1 + y.
model M
  Real r, y(start = 0, fixed = true), x, u;
equation
  r = sample(1.0, Clock(Clock(0.5), solverMethod = "ExplicitEuler"));
  der(y) = r - y;
  der(x) = -2*x + u;
  x = y;
end M;
--- expect ---
time,r,y,x,u
0.0,1.0,0.0,0.0,1.0
0.5,1.0,0.0,0.0,1.0
0.5,1.0,0.5,0.5,1.5
1.0,1.0,0.5,0.5,1.5
1.0,1.0,0.75,0.75,1.75

--- start-values-of-what-is-no-state-on-a-clock simulate --stop 0.5 --intervals 1 ---
// x = 2 makes y = 8 at first, and der(y) = 1 - y = -7 makes y = 4.5 of it.
model M
  Real r, y(start = 1), x(start = 2, fixed = true, stateSelect = StateSelect.never), u;
equation
  r = sample(1.0, Clock(Clock(0.5), solverMethod = "ExplicitEuler"));
  der(y) = r - y;
  der(x) = u;
  y = x^3;
end M;
--- expect ---
time,r,y,x,u
0.0,1.0,8.0,2.0,-0.5833333333333334
0.5,1.0,8.0,2.0,-0.5833333333333334
0.5,1.0,4.5,1.6509636244473134,-0.42802760633819237

--- nonlinear-equation-on-a-clock simulate --stop 1 --intervals 1 ---
// x^3 + x = 2, 10
model M
  Real u, x(start = 0.5);
equation
  u = sample(2 + 8*time, Clock(1));
  x^3 + x = u;
end M;
--- expect ---
time,u,x
0.0,2.0,1.0
1.0,2.0,1.0
1.0,10.0,2.0

--- an-algorithm-section-in-stages-of-a-clocks-method error check ---
model M
  Real x(start = 1), d, u = sample(1.0, Clock(Clock(0.5), solverMethod = "ExplicitRungeKutta4"));
algorithm
  d := -x*u;
equation
  der(x) = d;
end M;
--- expect ---
exit: 3
not supported yet: d comes from an algorithm section
--> model.mo:6:3

--- sampled-expressions-have-left-limits simulate --stop 1 --intervals 1 ---
// u switches at the tick at 0.5, which still sees what was before; so x(1) = 0.25.
model M
  Real u, h(start = 0), n, k(start = 0);
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  u = sample(if time >= 0.5 then 1 else 0, Clock(1, 4));
  n = sample(floor(4*time), Clock(1, 4));
  h = hold(u);
  k = hold(n);
  der(x) = h;
  der(y) = k;
end M;
--- expect ---
time,u,h,n,k,x,y
0.0,0.0,0.0,0.0,0.0,0.0,0.0
0.25,0.0,0.0,0.0,0.0,0.0,0.0
0.25,0.0,0.0,0.0,0.0,0.0,0.0
0.5,0.0,0.0,0.0,0.0,0.0,0.0
0.5,0.0,0.0,1.0,1.0,0.0,0.0
0.75,0.0,0.0,1.0,1.0,0.0,0.24999999999999975
0.75,1.0,1.0,2.0,2.0,0.0,0.24999999999999975
1.0,1.0,1.0,2.0,2.0,0.24999999999999972,0.7499999999999993
1.0,1.0,1.0,3.0,3.0,0.24999999999999972,0.7499999999999993

--- a-clocked-expression-that-is-constant simulate --stop 1 --intervals 1 ---
model M
  constant Boolean on = false;
  constant Integer B[2, 2] = {{0, 0}, {1, 1}};
  Real u, a, b, c, d;
  Real iv[4], h[4](each start = 0);
equation
  u = sample(time, Clock(1, 4));
  a = u - u;
  b = if on then u else 1;
  c = B[1, :]*{u, u};
  d = u^0;
  iv = {interval(a), interval(b), interval(c), interval(d)};
  h = hold(iv);
end M;
--- expect ---
time,u,a,b,c,d,iv[1],iv[2],iv[3],iv[4],h[1],h[2],h[3],h[4]
0.0,0.0,0.0,1.0,0.0,1.0,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25
0.25,0.0,0.0,1.0,0.0,1.0,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25
0.25,0.25,0.0,1.0,0.0,1.0,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25
0.5,0.25,0.0,1.0,0.0,1.0,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25
0.5,0.5,0.0,1.0,0.0,1.0,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25
0.75,0.5,0.0,1.0,0.0,1.0,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25
0.75,0.75,0.0,1.0,0.0,1.0,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25
1.0,0.75,0.0,1.0,0.0,1.0,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25
1.0,1.0,0.0,1.0,0.0,1.0,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25
