Smooth models: values that can be checked by hand.

--- exponential simulate --stop 1 --intervals 2 --tolerance 1e-10 --solver rk4 --step 0.5 ---
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = -x;
end M;
--- expect ---
time,x
0.0,1.0
0.5,0.6067708333333333
1.0,0.36817084418402773

--- euler-by-hand simulate --stop 1 --intervals 2 --solver euler --step 0.5 ---
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = x;
end M;
--- expect ---
time,x
0.0,1.0
0.5,1.5
1.0,2.25

--- set-a-parameter simulate --stop 1 --intervals 1 --set p=3 ---
model M
  parameter Real p = 1;
  Real x = p*time;
end M;
--- expect ---
time,p,x
0.0,3.0,0.0
1.0,3.0,3.0

--- set-a-start-value simulate --stop 1 --intervals 1 --set x.start=4 --solver euler --step 1 ---
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = 1;
end M;

--- expect ---
time,x
0.0,4.0
1.0,5.0

--- steady-start simulate --stop 1 --intervals 1 ---
model M
  Real x, y;
initial equation
  der(x) = 0;
equation
  der(x) = 4 - 2*x;
  y = x + 1;
end M;
--- expect ---
time,x,y
0.0,2.0,3.0
1.0,2.0,3.0

--- function-at-run-time simulate --stop 2 --intervals 2 ---
function newton "square root"
  input Real a;
  output Real x = 1;
algorithm
  while abs(x^2 - a) > 1e-12 loop
    x := (x + a/x)/2;
  end while;
end newton;
model M
  Real y = newton(1 + 4*time^2 - time);
end M;
--- expect ---
time,y
0.0,1.0
1.0,2.000000000000002
2.0,3.872983346207433

--- array-function simulate --stop 1 --intervals 1 ---
function scaled
  input Real v[:];
  input Real k;
  output Real w[size(v, 1)];
algorithm
  for i in 1:size(v, 1) loop
    w[i] := k*v[i];
  end for;
end scaled;
model M
  Real w[3] = scaled({1, 2, 3}, time);
end M;
--- expect ---
time,w[1],w[2],w[3]
0.0,0.0,0.0,0.0
1.0,1.0,2.0,3.0

--- integer-arithmetic simulate --stop 1 --intervals 1 ---
model M
  parameter Integer a = 7, b = -2;
  Integer q = div(a, b);
  Integer r = rem(a, b);
  Integer m = mod(a, b);
  Real x = abs(b)*time;
end M;
--- expect ---
time,a,b,q,r,m,x
0.0,7,-2,-3,1,-1,0.0
1.0,7,-2,-3,1,-1,2.0

--- a-branch-of-solutions-is-followed-to-its-end simulate --stop 1.2 --intervals 4 --tolerance 1e-8 ---
model Relaxation "a Schmitt trigger without events: y jumps where its branch ends, at x = 0.999 after t = 0.4995"
  Real x(start = 0, fixed = true), y(start = -2);
equation
  der(x) = -y;
  y = noEvent(if 1000*(y + 2*x) > 2 then 2 else if 1000*(y + 2*x) < -2 then -2 else 1000*(y + 2*x));
end Relaxation;
--- expect ---
time,x,y
0.0,0.0,-2.0
0.3,0.6,-2.0
0.6,0.7980000199500303,2.0
0.8999999999999999,0.19800001995003091,2.0
1.2,-0.40199998004996895,2.0
