Beyond an edge of a domain: steps are cut, branches not taken are not evaluated, and nothing that is not a number gets
into a result.

--- root-up-to-its-end simulate --stop 2 --intervals 2 ---
// x = (1 - (1 - t)^1.5)/1.5 up to t = 1, then constant.
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = if time < 1 then sqrt(1 - time) else 0;
end M;
--- expect ---
time,x
0.0,0.0
1.0,0.666641613033743
1.0,0.666641613033743
2.0,0.666641613033743

--- root-of-a-state simulate --stop 3 --intervals 3 ---
// h = (1 - t/2)^2 until the tank is empty, at t = 2.
model M
  Real h(start = 1, fixed = true);
equation
  der(h) = if h > 0 then -sqrt(h) else 0;
end M;
--- expect ---
time,h
0.0,1.0
1.0,0.25000008543331886
1.9999191662271063,-1.79498192924007e-21
1.9999191662271063,-1.79498192924007e-21
2.0,-1.79498192924007e-21
3.0,-1.79498192924007e-21

--- logarithm simulate --stop 2 --intervals 1 ---
// ∫ ln(x) with x = 1 - t: -(t) - (1 - t) ln(1 - t); the event before the edge is at t = 0.75.
model M
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = -1;
  der(y) = if x > 0.25 then log(x) else 0;
end M;
--- expect ---
time,x,y
0.0,1.0,0.0
0.7500000000013634,0.24999999999863645,-0.4034278849824592
0.7500000000013634,0.24999999999863645,-0.4034278849824592
2.0,-0.9999999999999996,-0.4034278849824592

--- arcsine simulate --stop 2 --intervals 1 ---
model M
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = 1;
  der(y) = if x < 1 then asin(x) else 0;
end M;
--- expect ---
time,x,y
0.0,0.0,0.0
0.9999999999998468,0.9999999999998466,0.5708079135190735
0.9999999999998468,0.9999999999998466,0.5708079135190735
2.0,1.9999999999999998,0.5708079135190735

--- division simulate --stop 2 --intervals 1 ---
// The divisor vanishes at t = 1, half a unit after its branch has been left.
model M
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = -1;
  der(y) = if x > 0.5 then 1/x else 0;
end M;
--- expect ---
time,x,y
0.0,1.0,0.0
0.5000000000009088,0.499999999999091,0.6931480254586136
0.5000000000009088,0.499999999999091,0.6931480254586136
2.0,-0.9999999999999993,0.6931480254586136

--- powers simulate --stop 2 --intervals 1 ---
// ∫ x^2.5 = (1 - (1 - t)^3.5)/3.5, up to the edge at t = 1.
model M
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = -1;
  der(y) = if x > 0 then x^2.5 else 0;
end M;
--- expect ---
time,x,y
0.0,1.0,0.0
0.9999999999995474,4.524131375734395e-13,0.28571424720280486
0.9999999999995474,4.524131375734395e-13,0.28571424720280486
2.0,-0.9999999999999996,0.28571424720280486

--- inside-a-function simulate --stop 2 --intervals 1 ---
model M
  function f
    input Real u;
    output Real y;
  protected
    Real s;
  algorithm
    s := sqrt(u);
    y := s*s*s;
  end f;
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = -1;
  der(y) = if x > 0 then f(x) else 0;
end M;
--- expect ---
time,x,y
0.0,1.0,0.0
1.0000000000018183,-1.8180873473383485e-12,0.4000016586258404
1.0000000000018183,-1.8180873473383485e-12,0.4000016586258404
2.0,-0.9999999999999992,0.4000016586258404

--- nowhere-to-go error simulate --stop 2 ---
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = sqrt(1 - time);
end M;

--- expect ---
exit: 6
model.mo:4:3
the run failed at time 1.0000001
der(x) is not a number

--- a-logarithm-without-a-way-out error simulate --stop 2 ---
model M
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = -1;
  der(y) = log(x);
end M;

--- expect ---
exit: 6
model.mo:5:3
der(y) is not a number
cannot be evaluated beyond t = 0.99999
