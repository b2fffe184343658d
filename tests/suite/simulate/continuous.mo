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
0.6,0.7980000367936774,2.0
0.8999999999999999,0.1980000367936779,2.0
1.2,-0.40199996320632175,2.0

--- set-an-element-of-a-parameter simulate --stop 1 --intervals 1 --set p[2]=7 --set m[1,2]=9 ---
model M
  parameter Real p[3] = {1, 2, 3};
  parameter Real m[2, 2] = [1, 2; 3, 4];
  Real x = sum(p);
  Real y = m[1, 1] + m[1, 2];
end M;
--- expect ---
time,p[1],p[2],p[3],"m[1,1]","m[1,2]","m[2,1]","m[2,2]",x,y
0.0,1.0,7.0,3.0,1.0,9.0,3.0,4.0,11.0,10.0
1.0,1.0,7.0,3.0,1.0,9.0,3.0,4.0,11.0,10.0

--- set-a-parameter-of-one-component-of-an-array simulate --stop 1 --intervals 1 --set r[3].R=5 --set r[2].v[1]=8 ---
model Resistor
  parameter Real R = 1;
  parameter Real v[2] = {1, 2};
  Real y = R + v[1];
end Resistor;
model M
  Resistor r[3](R = {2, 3, 4});
end M;
--- expect ---
time,r[1].y,r[2].y,r[3].y
0.0,3.0,11.0,6.0
1.0,3.0,11.0,6.0

--- set-an-element-in-a-record simulate --stop 1 --intervals 1 --set a.v[2]=6 --set b[2].v[1]=7 --set b[1].x=8 ---
record R
  Real x = 1;
  Real v[2] = {2, 3};
end R;
model M
  parameter R a = R(5, {5, 5});
  parameter R b[2];
  Real s = a.v[1] + 10*a.v[2];
  Real t = b[1].x + 10*b[2].v[1] + 100*b[2].x;
end M;
--- expect ---
time,s,t
0.0,65.0,178.0
1.0,65.0,178.0

--- set-an-element-that-decides-a-size simulate --stop 0 --set n[2]=3 ---
model M
  parameter Integer n[2] = {1, 2};
  Real x[n[2]] = fill(4, n[2]);
end M;
--- expect ---
time,n[1],n[2],x[1],x[2],x[3]
0.0,1,3,4.0,4.0,4.0

--- set-the-start-value-of-an-element simulate --stop 1 --intervals 1 --set x[2].start=5 ---
model M
  Real x[2](start = {1, 2}, each fixed = true);
equation
  der(x) = zeros(2);
end M;
--- expect ---
time,x[1],x[2]
0.0,1.0,5.0
1.0,1.0,5.0

--- a-value-of-the-whole-after-one-of-an-element simulate --stop 0 --set p[1]=9 --set p={4,5} ---
model M
  parameter Real p[2] = {1, 2};
  Real x = p[1];
end M;
--- expect ---
time,p[1],p[2],x
0.0,4.0,5.0,4.0
