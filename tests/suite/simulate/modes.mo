Mode changes: the number of states and the index change on the way.

--- clutch simulate --stop 2 --intervals 4 ---
model Clutch
  Real w1(start = 3, fixed = true), w2(start = 0.5, fixed = true), tau1, tau2;
  Boolean engaged = time >= 1;
equation
  der(w1) = 1 + tau1;
  4*der(w2) = 1 + tau2;
  if engaged then
    w1 = w2;
    tau1 + tau2 = 0;
  else
    tau1 = -1;
    tau2 = -1;
  end if;
end Clutch;

--- expect ---
time,w1,w2,tau1,tau2,engaged
0.0,3.0,0.5,-1.0,-1.0,false
0.5,3.0,0.5,-1.0,-1.0,false
1.0,3.0,0.5,-1.0,-1.0,false
1.0,1.0,1.0,-0.6,0.6000000000000001,true
1.5,1.2,1.2,-0.6,0.6000000000000001,true
2.0,1.4,1.4,-0.6,0.6000000000000001,true

--- capacitors-share-their-charge simulate --stop 2 --intervals 2 ---
model M
  Real v1(start = 3, fixed = true), v2(start = 1, fixed = true), i;
  Boolean closed = time >= 1;
equation
  der(v1) = 1 - i;
  der(v2) = i - 1;
  if closed then
    v1 = v2;
  else
    i = 1;
  end if;
end M;

--- expect ---
time,v1,v2,i,closed
0.0,3.0,1.0,1.0,false
1.0,3.0,1.0,1.0,false
1.0,2.0,2.0,1.0,true
2.0,2.0,2.0,1.0,true

--- state-becomes-algebraic simulate --stop 2 --intervals 4 ---
model M
  Real x(start = 1, fixed = true);
equation
  if time < 1 then
    der(x) = 1;
  else
    x = 5;
  end if;
end M;

--- expect ---
time,x
0.0,1.0
0.5,1.5000000000000004
1.0,2.0000000000000004
1.0,5.0
1.5,5.0
2.0,5.0

--- ideal-diode simulate --stop 4 --intervals 4 ---
model M
  Real u = 2 - time, v, i, s;
equation
  v = if s < 0 then s else 0;
  i = if s < 0 then 0 else s;
  u = v + 2*i;
end M;
--- expect ---
time,u,v,i,s
0.0,2.0,0.0,1.0,1.0
1.0,1.0,0.0,0.5,0.5
2.0,0.0,0.0,0.0,0.0
2.0000000000000013,-1.3322676295501878e-15,0.0,-6.661338147750939e-16,-6.661338147750939e-16
2.0000000000000013,-1.3322676295501878e-15,-1.3322676295501878e-15,0.0,-1.3322676295501878e-15
3.0,-1.0,-1.0,0.0,-1.0
4.0,-2.0,-2.0,0.0,-2.0

--- three-of-twelve-conditions-change-what-is-determined simulate --stop 0.75 --intervals 1 ---
model Interlocks "none of the twelve alone, and no two of them, do"
  Real x(start = 0, fixed = true);
  Real u, w, leak[9];
  Boolean s[3] = {time > 0.2, time > 0.4, time > 0.6};
  Boolean c[9] = {time > 0.7 + 0.1*k for k in 1:9};
equation
  der(x) = 1 + u;
  0 = if s[1] then (if s[2] then (if s[3] then x - 2 else u + w) else u + w) else u + w;
  leak = 0.01*u*ones(9);
  w = sum(if c[k] then leak[k] else 0 for k in 1:9);
end Interlocks;
--- expect ---
time,x,u,w,leak[1],leak[2],leak[3],leak[4],leak[5],leak[6],leak[7],leak[8],leak[9],s[1],s[2],s[3],c[1],c[2],c[3],c[4],c[5],c[6],c[7],c[8],c[9]
0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,false,false,false,false,false,false,false,false,false,false,false,false
0.2,0.2,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,false,false,false,false,false,false,false,false,false,false,false,false
0.2,0.2,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,true,false,false,false,false,false,false,false,false,false,false,false
0.4,0.4,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,true,false,false,false,false,false,false,false,false,false,false,false
0.4,0.4,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,true,true,false,false,false,false,false,false,false,false,false,false
0.6,0.6,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,true,true,false,false,false,false,false,false,false,false,false,false
0.6,2.0,-1.0,0.0,-0.01,-0.01,-0.01,-0.01,-0.01,-0.01,-0.01,-0.01,-0.01,true,true,true,false,false,false,false,false,false,false,false,false
0.75,2.0,-1.0,0.0,-0.01,-0.01,-0.01,-0.01,-0.01,-0.01,-0.01,-0.01,-0.01,true,true,true,false,false,false,false,false,false,false,false,false

--- derivative-of-a-function-that-jumps simulate --stop 0.2 --intervals 2 ---
// As tables are differentiated: at the event the function is asked at 0.1 exactly, not a rounding error before, where it is 0.
model M
  function f
    input Real t;
    input Integer piece;
    output Real y;
  algorithm
    y := if piece < 2 or t < 0.1 then 0 else -3.4 - 6*(t - 0.1);
    annotation(derivative(noDerivative = piece) = slope, Inline = false);
  end f;
  function slope
    input Real t;
    input Integer piece;
    input Real dt;
    output Real dy;
  algorithm
    dy := if piece < 2 or t < 0.1 then 0 else -6*dt;
    annotation(Inline = false);
  end slope;
  Real scaled, y, u, d;
  Integer piece;
equation
  piece = if time >= 0.1 then 2 else 1;
  scaled = time;
  y = f(scaled, piece);
  u = y;
  d = der(u);
end M;
--- expect ---
time,scaled,y,u,d,piece
0.0,0.0,0.0,0.0,0.0,1
0.1,0.1,0.0,0.0,0.0,1
0.1,0.1,-3.4,-3.4,-6.0,2
0.2,0.2,-4.0,-4.0,-6.0,2

--- no-other-solution-where-only-a-when-clause-leads-to-it error simulate --stop 1 ---
// m = 1 is fixed, so that i = 2 and v = 3.4. That v >= 4.2 would set m, and hold then, is no other start.
model M
  Real q(start = 0.1, fixed = true), v, i;
  Integer m(start = 1, fixed = true);
equation
  der(q) = i/36;
  v = 3.2 + q + 0.05*i;
  if m == 1 then
    i = 2;
  else
    v = 4.2;
  end if;
  when v >= 4.2 then
    m = 2;
  end when;
end M;
--- expect ---
exit: 0
not: several solutions
