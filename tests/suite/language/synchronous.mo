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
