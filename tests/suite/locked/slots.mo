What has a mode slot, and holds it between events: each model crosses at instants known in closed form. With one interval,
rows are the start, two for each event, and the end.

--- relations simulate --stop 2 --intervals 1 ---
model M
  Real x(start = 0, fixed = true);
  Boolean above = x > 0.25, atLeast = x >= 0.5, below = x < 1.25, atMost = x <= 1.5;
equation
  der(x) = 1;
end M;
--- expect ---
time,x,above,atLeast,below,atMost
0.0,0.0,false,false,true,true
0.2500000000004545,0.2500000000004545,false,false,true,true
0.2500000000004545,0.2500000000004545,true,false,true,true
0.500000000000909,0.500000000000909,true,false,true,true
0.500000000000909,0.500000000000909,true,true,true,true
1.2500000000022726,1.2500000000022726,true,true,true,true
1.2500000000022726,1.2500000000022726,true,true,false,true
1.5000000000027272,1.5000000000027272,true,true,false,true
1.5000000000027272,1.5000000000027272,true,true,false,false
2.0,2.0,true,true,false,false

--- absolute-value simulate --stop 2 --intervals 1 ---
// Continuous, and by the language without an event; the integral of |t - 1| up to 2 is 1.
model M
  Real x(start = -1, fixed = true), y = abs(x), z(start = 0, fixed = true);
equation
  der(x) = 1;
  der(z) = y;
end M;
--- expect ---
time,x,y,z
0.0,-1.0,1.0,0.0
2.0,0.9999999999999998,0.9999999999999998,1.0000025858209247

--- minimum-and-maximum simulate --stop 2 --intervals 1 ---
// The same; the integrals are 7/8 and 11/2.
model M
  Real x(start = 0, fixed = true), low = min(x, 0.5), high = max(2*x, 3 - x), area(start = 0, fixed = true);
equation
  der(x) = 1;
  der(area) = low + high;
end M;
--- expect ---
time,x,low,high,area
0.0,0.0,0.0,3.0,0.0
2.0,1.9999999999999998,0.5,3.9999999999999996,6.37499773040983

--- signs simulate --stop 2 --intervals 1 ---
model M
  Real x(start = -0.75, fixed = true);
  Integer s = sign(x);
equation
  der(x) = 1;
end M;
--- expect ---
time,x,s
0.0,-0.75,-1
0.7500000000013636,1.363589796632425e-12,-1
0.7500000000013636,1.363589796632425e-12,1
2.0,1.2499999999999991,1

--- integer-parts simulate --stop 2 --intervals 1 ---
model M
  Real x(start = -0.75, fixed = true);
  Real f = floor(x), c = ceil(x);
  Integer i = integer(x + 0.5);
equation
  der(x) = 1;
end M;
--- expect ---
time,x,f,c,i
0.0,-0.75,-1.0,0.0,-1
0.2499999999999998,-0.5,-1.0,0.0,-1
0.2499999999999998,-0.5,-1.0,0.0,0
0.75,1.3877787807814457e-17,-1.0,0.0,0
0.75,1.3877787807814457e-17,0.0,0.0,0
0.7500000013969832,1.3969832096671908e-9,0.0,0.0,0
0.7500000013969832,1.3969832096671908e-9,0.0,1.0,0
1.2500000000000007,0.5000000000000001,0.0,1.0,0
1.2500000000000007,0.5000000000000001,0.0,1.0,1
1.7500000000000007,1.0,0.0,1.0,1
1.7500000000000007,1.0,1.0,1.0,1
1.7500000016298136,1.000000001629813,1.0,1.0,1
1.7500000016298136,1.000000001629813,1.0,2.0,1
2.0,1.2499999999999991,1.0,2.0,1

--- quotients-and-remainders simulate --stop 2 --intervals 1 ---
model M
  Real x(start = -1.25, fixed = true);
  Real d = div(x, 0.5), m = mod(x, 1.0), r = rem(x, 1.0);
equation
  der(x) = 1;
end M;
--- expect ---
time,x,d,m,r
0.0,-1.25,-2.0,0.75,-0.25
0.24999999999999975,-1.0,-2.0,1.0,0.0
0.24999999999999975,-1.0,-2.0,0.0,0.0
0.2500000009313221,-0.9999999990686776,-2.0,9.313223525708736e-10,9.313223525708736e-10
0.2500000009313221,-0.9999999990686776,-1.0,9.313223525708736e-10,9.313223525708736e-10
0.2500000010477372,-0.9999999989522625,-1.0,1.0477374523532035e-9,1.0477374523532035e-9
0.2500000010477372,-0.9999999989522625,-1.0,1.0477374523532035e-9,-0.9999999989522625
0.7500000006984907,-0.4999999993015088,-1.0,0.5000000006984913,-0.4999999993015088
0.7500000006984907,-0.4999999993015088,0.0,0.5000000006984913,-0.4999999993015088
1.25,9.020562075079397e-17,0.0,1.0,9.020562075079397e-17
1.25,9.020562075079397e-17,0.0,9.020562075079397e-17,9.020562075079397e-17
1.7500000000000004,0.5,0.0,0.5,0.5
1.7500000000000004,0.5,1.0,0.5,0.5
2.0,0.7499999999999996,1.0,0.7499999999999996,0.7499999999999996

--- if-expressions simulate --stop 3 --intervals 1 ---
// Up with slope 1 to x = 1, then with slope 2 to x = 3, which is at t = 2, then with -1.
model M
  Real x(start = 0, fixed = true);
  discrete Boolean turned(start = false, fixed = true);
equation
  der(x) = if turned then -1 else if x < 1 then 1 else 2;
  when x > 3 then
    turned = true;
  end when;
end M;
--- expect ---
time,x,turned
0.0,0.0,false
1.000000000001818,1.000000000001818,false
1.000000000001818,1.000000000001818,false
2.0000000000027263,3.000000000003635,false
2.0000000000027263,3.000000000003635,true
2.0000000000099973,2.999999999996364,true
2.0000000000099973,2.999999999996364,true
3.0,2.000000000006361,true

--- compound-conditions-fire-once simulate --stop 4 --intervals 1 ---
// Between t = 1 and 3 the second relation changes nothing: one event at 1, one at 3.
model M
  Real x(start = 0, fixed = true);
  Boolean b = x > 1 and x < 3 or x > 1.5 and x < 2;
  discrete Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  when b then
    n = pre(n) + 1;
  end when;
end M;
--- expect ---
time,x,b,n
0.0,0.0,false,0
1.000000000001818,1.000000000001818,false,0
1.000000000001818,1.000000000001818,true,1
3.0000000000054543,3.0000000000054543,true,1
3.0000000000054543,3.0000000000054543,false,1
4.0,4.0,false,1

--- conditions-without-a-function simulate --stop 3 --intervals 1 ---
// i == 4 has no sign that changes: it is watched by value.
model M
  discrete Integer i(start = 0, fixed = true), hits(start = 0, fixed = true);
  Boolean four = i == 4, other = i <> 4;
equation
  when sample(0.5, 0.5) then
    i = pre(i) + 1;
  end when;
  when four then
    hits = pre(hits) + 1;
  end when;
end M;
--- expect ---
time,i,hits,four,other
0.0,0,0,false,true
0.5,0,0,false,true
0.5,1,0,false,true
1.0,1,0,false,true
1.0,2,0,false,true
1.5,2,0,false,true
1.5,3,0,false,true
2.0,3,0,false,true
2.0,4,1,true,false
2.5,4,1,true,false
2.5,5,1,false,true
3.0,5,1,false,true
3.0,6,1,false,true

--- no-event-and-smooth simulate --stop 2 --intervals 1 ---
// No event of a, nor of b, whose slope has no jump; those of c and d are at t = 0.75 and 1.5.
model M
  Real x(start = 0, fixed = true);
  Real a = noEvent(if x > 0.5 then 1 else 0), b = smooth(1, if x > 1 then (x - 1)^2 else 0),
    c = smooth(0, if x > 0.75 then x - 0.75 else 0), d = if x > 1.5 then 1 else 0;
equation
  der(x) = 1;
end M;
--- expect ---
time,x,a,b,c,d
0.0,0.0,0.0,0.0,0.0,0.0
0.7500000000013636,0.7500000000013636,1.0,0.0,0.0,0.0
0.7500000000013636,0.7500000000013636,1.0,0.0,1.3635759188446173e-12,0.0
1.5000000000027272,1.5000000000027272,1.0,0.25000000000272715,0.7500000000027272,0.0
1.5000000000027272,1.5000000000027272,1.0,0.25000000000272715,0.7500000000027272,1.0
2.0,2.0,1.0,1.0,1.25,1.0

--- held-beyond-the-crossing simulate --stop 2 --intervals 1 --solver euler --step 0.4 ---
// The step from 0.8 reaches 1.2; the branch of the step holds up to the crossing, at exactly 1.
model M
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = 1;
  der(y) = if x < 1 then 1 else -3;
end M;
--- expect ---
time,x,y
0.0,0.0,0.0
1.000000000001818,1.000000000001818,1.000000000001818
1.000000000001818,1.000000000001818,1.000000000001818
2.0,1.9999999999999998,-1.9999999999927278
