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
0.5,1.5
1.0,2.0
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
