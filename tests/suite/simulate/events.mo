Events: rows before and after, discrete variables, samplers.

--- bouncing-ball simulate --stop 1 --intervals 2 --solver rk4 --step 0.25 ---
model Ball
  Real h(start = 1, fixed = true), v(start = -1, fixed = true);
equation
  der(h) = v;
  der(v) = -4;
  when h <= 0 then
    reinit(v, -0.5*pre(v));
  end when;
end Ball;

--- expect ---
time,h,v
0.0,1.0,-1.0
0.5,0.0,-3.0
0.5000000000004543,-1.362909785030255e-12,-3.000000000001817
0.5000000000004543,-1.362909785030255e-12,1.5000000000009086
0.500000000002272,1.3635759188392483e-12,1.499999999993638
0.500000000002272,1.3635759188392483e-12,1.499999999993638
1.0,0.24999999999931852,-0.49999999999727396

--- sampled-counter simulate --stop 1 --intervals 2 ---
model M
  discrete Integer n(start = 0, fixed = true);
equation
  when sample(0, 0.5) then
    n = pre(n) + 1;
  end when;
end M;
--- expect ---
time,n
0.0,1
0.5,1
0.5,2
1.0,2
1.0,3

--- boolean-when-edge-and-change simulate --stop 2 --intervals 2 ---
model M
  Boolean on = time > 0.5 and time < 1.5;
  Integer rises(start = 0, fixed = true), changes(start = 0, fixed = true);
equation
  when on then
    rises = pre(rises) + 1;
  end when;
  when change(on) then
    changes = pre(changes) + 1;
  end when;
end M;
--- expect ---
time,on,rises,changes
0.0,false,0,0
0.5,false,0,0
0.5,true,1,1
1.0,true,1,1
1.5,true,1,1
1.5,false,1,2
2.0,false,1,2

--- elsewhen-has-lower-priority simulate --stop 2 --intervals 2 ---
model M
  Integer a(start = 0, fixed = true);
equation
  when time >= 1 then
    a = 10;
  elsewhen time >= 1 then
    a = 20;
  end when;
end M;
--- expect ---
time,a
0.0,0
1.0,0
1.0,10
2.0,10

--- enumeration-variable simulate --stop 3 --intervals 3 ---
type State = enumeration(off, warm, hot);
model M
  State s(start = State.off, fixed = true);
equation
  when time >= 1 then
    s = State.warm;
  elsewhen time >= 2 then
    s = State.hot;
  end when;
end M;
--- expect ---
time,s
0.0,1
1.0,1
1.0,2
2.0,2
2.0,3
3.0,3

--- delayed-ramp simulate --stop 2 --intervals 4 ---
model M
  Real x = time;
  Real y = delay(x, 0.5);
end M;
--- expect ---
time,x,y
0.0,0.0,0.0
0.5,0.5,0.0
1.0,1.0,0.5
1.5,1.5,1.0
2.0,2.0,1.5

--- thermostat-with-when simulate --stop 1 --intervals 1 --events events.json ---
model M
  Real T(start = 0.5, fixed = true);
  Boolean heat(start = true, fixed = true);
  Integer changes(start = 0, fixed = true);
equation
  der(T) = if heat then 2 else -2;
  when T >= 1 then
    heat = false;
  elsewhen T <= 0 then
    heat = true;
  end when;
  when change(heat) then
    changes = pre(changes) + 1;
  end when;
end M;

--- expect ---
time,T,heat,changes
0.0,0.5,true,0
0.2500000000004543,1.000000000000909,true,0
0.2500000000004543,1.000000000000909,false,1
0.25000000000136335,0.999999999999091,false,1
0.25000000000136335,0.999999999999091,false,1
0.7500000000015905,-1.3628126405151875e-12,false,1
0.7500000000015905,-1.3628126405151875e-12,true,2
0.7500000000029534,1.3629097850298422e-12,true,2
0.7500000000029534,1.3629097850298422e-12,true,2
1.0,0.49999999999545547,true,2

--- terminate-ends-the-run simulate --stop 2 --intervals 4 ---
model M
  Real x = time;
equation
  when time >= 0.75 then
    terminate("enough");
  end when;
end M;

--- expect ---
time,x
0.0,0.0
0.5,0.5
0.75,0.75
0.75,0.75

--- initial-when simulate --stop 1 --intervals 1 ---
model M
  discrete Real a, b(start = 5, fixed = true);
equation
  when initial() then
    a = 3;
  end when;
  when {initial(), time >= 0.5} then
    b = pre(b) + 1;
  end when;
end M;
--- expect ---
time,a,b
0.0,3.0,6.0
0.5,3.0,6.0
0.5,3.0,7.0
1.0,3.0,7.0

--- when-in-an-algorithm simulate --stop 1 --intervals 2 ---
model M
  Integer n(start = 0, fixed = true);
  Real y(start = 0, fixed = true);
algorithm
  when sample(0.25, 0.25) then
    n := pre(n) + 1;
    y := n^2;
  end when;
end M;
--- expect ---
time,n,y
0.0,0,0.0
0.25,0,0.0
0.25,1,1.0
0.5,1,1.0
0.5,2,4.0
0.75,2,4.0
0.75,3,9.0
1.0,3,9.0
1.0,4,16.0

--- warning-goes-on simulate --stop 1 --intervals 1 ---
model M
  Real x = time + 1;
equation
  assert(x < 1.5, "x is large", AssertionLevel.warning);
end M;

--- expect ---
time,x
0.0,1.0
1.0,2.0

--- assertion-fails error simulate --stop 1 ---
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  assert(x < 0.5, "x became too large");
end M;
--- expect ---
exit: 6
assertion failed
x became too large
model.mo:5:3

--- floor-and-mod simulate --stop 1 --intervals 4 ---
model M
  Real a = floor(4*time);
  Real b = mod(4*time, 2);
  Integer c = integer(4*time + 0.5);
end M;
--- expect ---
time,a,b,c
0.0,0.0,0.0,0
0.125,0.0,0.5,0
0.125,0.0,0.5,1
0.25,0.0,1.0,1
0.25,1.0,1.0,1
0.375,1.0,1.5,1
0.375,1.0,1.5,2
0.5,1.0,2.0,2
0.5,2.0,0.0,2
0.625,2.0,0.5,2
0.625,2.0,0.5,3
0.75,2.0,1.0,3
0.75,3.0,1.0,3
0.875,3.0,1.5,3
0.875,3.0,1.5,4
1.0,3.0,2.0,4
1.0,4.0,0.0,4

--- no-event simulate --stop 1 --intervals 2 ---
model M
  Real x = noEvent(if time > 0.25 then 1 else 0);
end M;
--- expect ---
time,x
0.0,0.0
0.5,1.0
1.0,1.0

--- integer-of-a-sum-that-jumps-back simulate --stop 3 --intervals 3 ---
model M
  Boolean a = time >= 1 and time < 2;
  Real f;
  Integer n;
equation
  f = -(if a then 1.0 else 0.0);
  n = -integer(f);
end M;
--- expect ---
time,a,f,n
0.0,false,0.0,0
1.0,false,0.0,0
1.0,true,-1.0,1
2.0,true,-1.0,1
2.0,false,0.0,0
3.0,false,0.0,0

--- terminate-in-an-algorithm-section simulate --stop 3 --intervals 3 ---
// What comes after it in the section belongs to the last instant too.
model M
  Real x(start = 0.5, fixed = true);
  discrete Integer n(start = 0, fixed = true);
  discrete Real last(start = 0, fixed = true);
algorithm
  when x > 1 then
    n := pre(n) + 1;
    terminate("enough");
    last := 2*x;
  end when;
equation
  der(x) = 1;
end M;
--- expect ---
time,x,n,last
0.0,0.5,0,0.0
0.5000000000009085,1.000000000000909,0,0.0
0.5000000000009085,1.000000000000909,1,2.000000000001818

--- terminate-in-an-if-of-an-algorithm-section simulate --stop 3 --intervals 3 ---
model M
  Real x(start = 0.5, fixed = true);
  Real y;
algorithm
  y := 2*x;
  if y > 3 then
    terminate("enough");
  end if;
equation
  der(x) = 1;
end M;
--- expect ---
time,x,y
0.0,0.5,1.0
1.0000000000018177,1.5000000000018183,3.0000000000036366
1.0000000000018177,1.5000000000018183,3.0000000000036366

--- terminate-in-a-function simulate --stop 3 --intervals 6 ---
// No event: the first output that finds it so is the last.
model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := 2*x;
    if y > 2.9 then
      terminate("enough");
    end if;
  end f;
  Real x(start = 0, fixed = true);
  Real y = f(x);
equation
  der(x) = 1;
end M;
--- expect ---
time,x,y
0.0,0.0,0.0
0.5,0.5,1.0
1.0,1.0,2.0
1.5,1.5,3.0

--- loops-without-events-say-nothing check ---
model M
  Real x(start = 0, fixed = true), s, z;
  Integer n;
  parameter Real p = 3;
equation
  der(x) = 1;
algorithm
  s := p;
  n := 0;
  while s > 1 loop
    s := s - 1;
    n := n + 1;
  end while;
algorithm
  z := x;
  while noEvent(z > 1) loop
    z := z - 1;
  end while;
end M;
--- expect ---
M: no errors

--- a-condition-of-several-relations-is-one-condition simulate --stop 4 --intervals 2 ---
// x > 1 alone changes nothing: no rows, no restart. So it is with time, in when-clauses, if-expressions, and algorithms.
model M
  Real x(start = 0, fixed = true), y(start = -2, fixed = true), z(start = 0, fixed = true), w;
  Boolean b;
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  der(y) = 1;
  der(z) = if x > 1 and y > 1 then 1 else 0;
  b = time > 0.7 and y > 1 or x > 9;
  when x > 0.5 and (y > 1 or y > 7) then
    n = pre(n) + 1;
  end when;
algorithm
  if x > 1.2 and y > 1 then
    w := 1;
  else
    w := 0;
  end if;
end M;

--- expect ---
time,x,y,z,w,b,n
0.0,0.0,-2.0,0.0,0.0,false,0
2.0,2.0,2.498001805406602e-16,0.0,0.0,false,0
3.000000000005455,3.000000000005455,1.0000000000054543,0.0,0.0,false,0
3.000000000005455,3.000000000005455,1.0000000000054543,0.0,1.0,true,1
4.0,4.0,1.999999999999999,0.9999999999945436,1.0,true,1

--- a-relation-used-alone-as-well simulate --stop 2 --intervals 1 ---
// x > 1 is a condition of its own, too.
model M
  Real x(start = 0, fixed = true), z;
  Boolean b;
equation
  der(x) = 1;
  b = x > 1 and x > 7;
  z = if x > 1 then x else 1;
end M;

--- expect ---
time,x,z,b
0.0,0.0,1.0,false
1.000000000001818,1.000000000001818,1.0,false
1.000000000001818,1.000000000001818,1.000000000001818,false
2.0,2.0,2.0,false

--- integer-parts-jump-once simulate --stop 3 --intervals 1 ---
// Events at x = -1 and x = 1 alone: at zero div and rem have no jump.
model M
  Real x(start = -1.5, fixed = true), q, r, s(start = 0, fixed = true);
equation
  der(x) = 1;
  q = div(x, 1);
  r = rem(x, 1);
  der(s) = div(x, 1);
end M;

--- expect ---
time,x,q,r,s
0.0,-1.5,-1.0,-0.5,0.0
0.5000000018626439,-0.9999999981373554,-1.0,1.8626445941194447e-9,-0.5000000018626439
0.5000000018626439,-0.9999999981373554,0.0,-0.9999999981373554,-0.5000000018626439
2.5000000000000004,1.0000000000000002,0.0,1.0000000000000002,-0.5000000018626439
2.5000000000000004,1.0000000000000002,1.0,2.220446049250313e-16,-0.5000000018626439
3.0,1.4999999999999998,1.0,0.4999999999999998,-1.8626448161640496e-9

--- touching-zero simulate --stop 4 --intervals 2 ---
// h is 1/2 for one instant and never more; (h - 3/8)^2 is zero twice and never less.
model M
  Real h(start = 0, fixed = true), v(start = 1, fixed = true);
  Integer least(start = 0, fixed = true), more(start = 0, fixed = true), square(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -1;
  when h >= 0.5 then
    least = pre(least) + 1;
  end when;
  when h > 0.5 then
    more = pre(more) + 1;
  end when;
  when (h - 0.375)^2 <= 0 then
    square = pre(square) + 1;
  end when;
end M;

--- expect ---
time,h,v,least,more,square
0.0,0.0,1.0,0,0,0
0.500000004855438,0.37500000000001643,0.499999995144562,0,0,0
0.500000004855438,0.37500000000001643,0.499999995144562,0,0,1
0.500000004855438,0.37500000000001643,0.499999995144562,0,0,1
0.500000004855438,0.37500000000001643,0.499999995144562,0,0,1
0.9999999999999998,0.4999999975722974,4.163336342344337e-17,0,0,1
0.9999999999999998,0.4999999975722974,4.163336342344337e-17,1,0,1
0.9999999999999998,0.4999999975722974,4.163336342344337e-17,1,0,1
0.9999999999999998,0.4999999975722974,4.163336342344337e-17,1,0,1
1.4999999951445655,0.37500000000001477,-0.4999999951445653,1,0,1
1.4999999951445655,0.37500000000001477,-0.4999999951445653,1,0,2
1.4999999951445655,0.37500000000001477,-0.4999999951445653,1,0,2
1.4999999951445655,0.37500000000001477,-0.4999999951445653,1,0,2
2.0,-2.4277019006202494e-9,-0.9999999999999991,1,0,2
4.0,-4.000000002427697,-2.999999999999999,1,0,2

--- coming-close-and-staying-is-no-touch simulate --stop 12 --intervals 2 ---
model M
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1 - x;
  when x >= 1 then
    n = pre(n) + 1;
  end when;
end M;
--- expect ---
time,x,n
0.0,0.0,0
6.0,0.9975212479389252,0
12.0,0.9999938557856956,0

--- left-in-two-instants simulate --stop 2 --intervals 2 ---
// As frictions with a peak are written: s exceeds `high` while locked, falls below it as soon as it is not, and `pre` remembers.
model M
  Real s, a, v(start = 0, fixed = true);
  Boolean slides(start = false, fixed = true);
equation
  slides = s > 1 or pre(slides) and s > 0.9;
  time = 2*a + (if slides then 0.9 else s);
  a = if slides then s - 0.9 else 0;
  der(v) = a;
end M;
--- expect ---
time,s,a,v,slides
0.0,0.0,0.0,0.0,false
1.0000000000018183,1.0000000000018183,0.0,0.0,false
1.0000000000018183,0.9500000000009092,0.050000000000909206,0.0,true
2.0,1.45,0.5499999999999999,0.3000000017165564,true

--- at-zero-for-a-while simulate --stop 6 --intervals 2 ---
// Both come to zero at 1 and stay there up to 3: then g goes on and f goes back. One step of the integration sees it all.
model M
  Real x(start = 0, fixed = true), f, g;
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true), more(start = 0, fixed = true);
equation
  der(x) = 1;
  f = noEvent(if x < 1 then x - 1 elseif x < 3 then 0 else 3 - x);
  g = noEvent(if x < 1 then x - 1 elseif x < 3 then 0 else x - 3);
  when f >= 0 then
    n = pre(n) + 1;
  end when;
  when g >= 0 then
    m = pre(m) + 1;
  end when;
  when g > 0 then
    more = pre(more) + 1;
  end when;
end M;
--- expect ---
time,x,f,g,n,m,more
0.0,0.0,-1.0,-1.0,0,0,0
0.9999999999999983,0.9999999999999983,-1.6653345369377348e-15,-1.6653345369377348e-15,0,0,0
0.9999999999999983,0.9999999999999983,-1.6653345369377348e-15,-1.6653345369377348e-15,1,1,0
3.000000000001362,3.000000000001362,-1.362021606610142e-12,1.362021606610142e-12,1,1,0
3.000000000001362,3.000000000001362,-1.362021606610142e-12,1.362021606610142e-12,1,1,1
6.0,6.0,-3.0,3.0,1,1,1

--- a-short-visit-through-a-delay simulate --stop 10 --intervals 1 ---
// The delayed signal is above the level for a sixtieth of a step.
model M
  Real x(start = 0, fixed = true), y(start = 0);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  y = delay(1/(1 + ((x - 3.37)/0.01)^2), 4);
  when y > 0.9 then
    n = pre(n) + 1;
  end when;
end M;

--- expect ---
time,x,y,n
0.0,0.0,8.805142203046579e-6,0
7.366662885547185,7.366662885547185,0.9000000000010977,0
7.366662885547185,7.366662885547185,0.9000000000010977,1
7.3733371016306055,7.3733371016306055,0.8999999999989226,1
7.3733371016306055,7.3733371016306055,0.8999999999989226,1
10.0,10.0,0.000014457134600337355,1

--- a-short-visit-through-a-loop-of-thirty simulate --stop 10 --intervals 1 --variables x,n ---
model M
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
  Real y[30];
equation
  der(x) = 1;
  for i in 1:30 loop
    y[i] + 0.01*y[mod(i, 30) + 1]^2 + 0.01*sum(y) = i/30/(1 + ((x - 3.37)/0.005)^2);
  end for;
  when y[30] > 0.7 then
    n = pre(n) + 1;
  end when;
end M;

--- expect ---
time,x,n
0.0,0.0,0
3.367456453840659,3.367456453840659,0
3.367456453840659,3.367456453840659,1
3.3725435461593594,3.3725435461593594,1
3.3725435461593594,3.3725435461593594,1
10.0,10.0,1

--- a-short-visit-of-a-foreign-function simulate --stop 10 --intervals 1 ---
// Nothing but values is known of it.
function pulse
  input Real x;
  output Real y;
external "C" y = pulse(x)
  annotation(Include = "static double pulse(double x) { double s = (x - 3.37)/0.01; return 1/(1 + s*s); }");
end pulse;
model M
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  when pulse(x) > 0.9 then
    n = pre(n) + 1;
  end when;
end M;

--- expect ---
time,x,n
0.0,0.0,0
3.366666666666688,3.366666666666688,0
3.366666666666688,3.366666666666688,1
3.3733333333333544,3.3733333333333544,1
3.3733333333333544,3.3733333333333544,1
10.0,10.0,1

--- a-condition-that-reads-a-Boolean-of-its-section simulate --stop 10 --intervals 1 ---
// One condition: sin(x) crosses 0.5 four times, twice while b is false.
model M
  Real x(start = 0, fixed = true);
  Boolean b;
  Integer y;
algorithm
  b := x > 5;
  y := 0;
  if b and sin(x) > 0.5 then
    y := 1;
  end if;
equation
  der(x) = 1;
end M;

--- expect ---
time,x,b,y
0.0,0.0,false,0
5.0000000000090905,5.0000000000090905,false,0
5.0000000000090905,5.0000000000090905,true,0
6.806784082780976,6.806784082780976,true,0
6.806784082780976,6.806784082780976,true,1
8.901179185173097,8.901179185173097,true,1
8.901179185173097,8.901179185173097,true,0
10.0,10.0,true,0

--- when-equations-are-equations simulate --stop 1 --intervals 1 ---
// What stands on the right is the value after the event: r = -1, a = (time + pre(a))/2, c is the fixed point of cos, d = 1 by way of y.
model M
  discrete Real r(start = 1, fixed = true), a(start = 0, fixed = true), b(start = 0, fixed = true);
  discrete Real c(start = 1, fixed = true), d(start = 3, fixed = true);
  Real y;
equation
  y = d + 2*time;
  when time > 0.5 then
    r = 2*r + 1;
    a = time - b;
    b = a - pre(a);
    c = cos(c);
    d = y/2;
  end when;
end M;
--- expect ---
time,r,a,b,c,d,y
0.0,1.0,0.0,0.0,1.0,3.0,3.0
0.5,1.0,0.0,0.0,1.0,3.0,4.0
0.5,-1.0,0.25,0.25,0.7390851332151607,1.0,2.0
1.0,-1.0,0.25,0.25,0.7390851332151607,1.0,3.0

--- relations-of-an-event-inside-when-statements simulate --stop 2 --intervals 1 --variables n,k,m,o --solver radau ---
// x reaches 3 when time reaches 1: the event says that x >= 3 holds, though numbers may be below by rounding. The statement reads it as the
// equation does, also through what the section has assigned, and as the opposite.
model M
  Real x(start = 0, fixed = true), y;
  Integer n(start = 0, fixed = true), k(start = 0, fixed = true), m(start = 0, fixed = true), o(start = 0, fixed = true);
equation
  der(x) = 3;
  when {x >= 3, time >= 1} then
    n = if x >= 3 then 1 else 2;
  end when;
algorithm
  when {x >= 3, time >= 1} then
    if x >= 3 then
      k := 1;
    else
      k := 2;
    end if;
    o := if x < 3 then 2 else 1;
  end when;
algorithm
  y := x + 0;
  when {y >= 3, time >= 1} then
    m := if y >= 3 then 1 else 2;
  end when;
end M;
--- expect ---
time,n,k,m,o
0.0,0,0,0,0
1.0,0,0,0,0
1.0,1,1,1,1
2.0,1,1,1,1

--- relations-of-a-sample-inside-a-when-statement simulate --stop 2.25 --intervals 1 --variables n --solver radau ---
model M
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
algorithm
  when {x >= 1, x >= 2, sample(0.5, 0.5)} then
    if x >= 2 then
      n := 2;
    elseif x >= 1 then
      n := 1;
    else
      n := -1;
    end if;
  end when;
end M;
--- expect ---
time,n
0.0,0
0.5,0
0.5,-1
1.0,-1
1.0,1
1.5,1
1.5,1
2.0,1
2.0,2
2.25,2

--- assertions-in-when-statements-see-the-whole-event simulate --stop 2 --intervals 1 --variables n --solver radau ---
// x >= 3 and time >= 1 become true at once; that the one holds without the other is no reason to end the run.
model M
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 3;
algorithm
  when {time >= 1, x >= 3} then
    assert(x >= 3, "x is not there yet");
    n := n + 1;
  end when;
end M;
--- expect ---
time,n
0.0,0
1.0,0
1.0,1
2.0,1

--- events-that-the-user-does-not-tell-apart simulate --stop 1 --intervals 10 --time-resolution 0.01 --variables n ---
model M
  Integer n(start = 0, fixed = true);
equation
  when {time >= 0.5, time >= 0.505} then
    n = pre(n) + 1;
  end when;
end M;
--- expect ---
time,n
0.0,0
0.1,0
0.2,0
0.3,0
0.4,0
0.5,0
0.5,1
0.6,1
0.7,1
0.8,1
0.9,1
1.0,1

--- an-index-in-a-when-clause-is-checked error simulate --stop 1 ---
model M
  Integer k(start = 1, fixed = true);
  parameter Real a[3] = {1, 2, 3};
  discrete Real n(start = 0, fixed = true);
equation
  when sample(0.1, 0.1) then
    k = pre(k) + 1;
    n = a[k];
  end when;
end M;
--- expect ---
exit: 6
time 0.30000000000000004: the index k is outside 1:3: it is 4
model.mo:6

--- an-index-in-a-branch-of-a-when-clause-is-checked-there simulate --stop 0.4 --intervals 1 --variables n ---
model M
  Integer k(start = 1, fixed = true);
  parameter Real a[3] = {1, 2, 3};
  discrete Real n(start = 0, fixed = true);
equation
  when sample(0.1, 0.1) then
    k = pre(k) + 1;
    if k <= 3 then
      n = a[k];
    else
      n = -1;
    end if;
  end when;
end M;
--- expect ---
time,n
0.0,0.0
0.1,0.0
0.1,2.0
0.2,2.0
0.2,3.0
0.30000000000000004,3.0
0.30000000000000004,-1.0
0.4,-1.0
0.4,-1.0

--- an-index-at-the-start-is-checked error simulate --stop 1 ---
model M
  Integer j;
  parameter Real a[3] = {1, 2, 3};
  Real x;
initial equation
  j = 4;
  x = a[j];
equation
  der(x) = 1;
  when time > 5 then
    j = 1;
  end when;
end M;
--- expect ---
exit: 5
error: assertion failed at time 0.0: the index j is outside 1:3: it is 4
--> model.mo:7:9

--- numbers-of-literals-are-checked error simulate --stop 1 ---
model M
  type E = enumeration(a, b, c);
  E e(start = E.a, fixed = true);
equation
  when sample(0.1, 0.1) then
    e = E(Integer(pre(e)) + 1);
  end when;
end M;
--- expect ---
exit: 6
the number of a literal of M.E is outside 1:3: it is 4

--- numbers-of-literals-are-checked-in-functions error simulate --stop 1 ---
model M
  type E = enumeration(a, b, c);
  function f
    input Integer i;
    output E e;
  algorithm
    e := E(i);
  end f;
  E e = f(integer(10*time) + 1);
end M;
--- expect ---
exit: 6
is 4, which is not between 1 and 3
model.mo:7

--- remainders-are-not-negative error simulate --stop 30 ---
// At its events a remainder is zero but for rounding, and is so before them where what is divided falls.
model M
  parameter Real p = 0.3;
  Real x(start = 0, fixed = true);
  Real rising = mod(time, p), falling = mod(-time, p), moved = mod(x, p), rest = rem(x, p);
equation
  der(x) = 1;
  assert(rising >= 0 and falling >= 0 and moved >= 0 and rest >= 0, "negative");
  assert(rising < p and moved < p and rest < p, "too large");
end M;
--- expect ---
exit: 0

--- an-assertion-that-fails-from-an-event-on error simulate --stop 2 ---
model M
  Real x(start = 0, fixed = true), y = mod(x, 1);
equation
  der(x) = 1;
  assert(y >= 0.1 or x < 1, "too small");
end M;
--- expect ---
exit: 6
assertion failed at time 1.0

--- terminate-in-a-section-behind-a-bare-relation simulate --stop 3 --intervals 3 ---
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
algorithm
  when x > 1.5 then
    terminate("enough");
  end when;
end M;
--- expect ---
time,x
0.0,0.0
1.0,1.0
1.5000000000027272,1.5000000000027272
1.5000000000027272,1.5000000000027272

--- terminate-in-a-section-at-a-time simulate --stop 3 --intervals 3 ---
model M
  Real x(start = 0, fixed = true);
  Boolean done(start = false, fixed = true);
equation
  der(x) = 1;
algorithm
  when {time > 1.5, x > 5} then
    done := true;
    terminate("enough");
  end when;
end M;
--- expect ---
time,x,done
0.0,0.0,false
1.0,1.0,false
1.5,1.5,false
1.5,1.5,true

--- reinit-in-an-if-of-when-initial simulate --stop 1 --intervals 1 ---
// At the start it is an initial equation, also inside an if-equation.
model M
  parameter Boolean up = true, hold = false;
  Boolean later = time > 5;
  Real x, y, z[2], u;
equation
  der(x) = 1;
  der(y) = 0;
  der(z) = {0, 0};
  der(u) = -u;
  when {initial(), time > 0.5} then
    if up then
      reinit(x, 2);
    end if;
    if up and not hold then
      reinit(y, 4);
    else
      reinit(y, 3);
    end if;
    for i in 1:2 loop
      if i > 1 then
        reinit(z[i], i);
      else
        reinit(z[i], 10);
      end if;
    end for;
  end when;
  when {initial(), later} then
    if not initial() then
      reinit(u, 7);
    end if;
  end when;
initial equation
  u = 1;
end M;
--- expect ---
time,up,hold,later,x,y,z[1],z[2],u
0.0,true,false,false,2.0,4.0,10.0,2.0,1.0
0.5,true,false,false,2.500000000000001,4.0,10.0,2.0,0.606530679715453
0.5,true,false,false,2.0,4.0,10.0,2.0,0.606530679715453
1.0,true,false,false,2.4999999999999996,4.0,10.0,2.0,0.36787946544138306

--- reinit-in-an-if-of-when-initial-by-a-variable simulate --stop 0.25 --intervals 1 ---
model M
  Boolean q = time > 1;
  Real y;
equation
  der(y) = 0;
  when initial() then
    if q then
      reinit(y, 1);
    else
      reinit(y, 5);
    end if;
  end when;
end M;
--- expect ---
time,q,y
0.0,false,5.0
0.25,false,5.0
