Connections: equality of potentials, flows sum to zero with signs, streams mix, inner and outer meet.

--- flow-with-three-and-an-open-one flatten ---
connector Pin
  Real v;
  flow Real i;
end Pin;
model Source
  Pin p;
equation
  p.v = time;
end Source;
model Load
  Pin p;
  parameter Real R = 1;
equation
  p.v = R*p.i;
end Load;
model M
  Source s;
  Load a, b(R = 2), open;
equation
  connect(s.p, a.p);
  connect(a.p, b.p);
end M;
--- expect ---
model M
  Real s.p.v;
  Real s.p.i;
  Real a.p.v;
  Real a.p.i;
  parameter Real a.R = 1;
  Real b.p.v;
  Real b.p.i;
  parameter Real b.R = 2;
  Real open.p.v;
  Real open.p.i;
  parameter Real open.R = 1;
equation
  s.p.v = time;
  a.p.v = a.R*a.p.i;
  b.p.v = b.R*b.p.i;
  open.p.v = open.R*open.p.i;
  s.p.v = a.p.v;
  a.p.v = b.p.v;
  s.p.i + a.p.i + b.p.i = 0;
  open.p.i = 0;
end M;

--- inside-and-outside flatten ---
connector Pin
  Real v;
  flow Real i;
end Pin;
model R
  Pin p, n;
equation
  p.v - n.v = p.i;
  p.i + n.i = 0;
end R;
model Source
  Pin p;
equation
  p.v = time;
end Source;
model Ground
  Pin p;
equation
  p.v = 0;
end Ground;
model Box
  Pin p, n;
  R r;
equation
  connect(p, r.p);
  connect(r.n, n);
end Box;
model M
  Source s;
  Box b;
  Ground g;
equation
  connect(s.p, b.p);
  connect(b.n, g.p);
end M;

--- expect ---
model M
  Real s.p.v;
  Real s.p.i;
  Real b.p.v;
  Real b.p.i;
  Real b.n.v;
  Real b.n.i;
  Real b.r.p.v;
  Real b.r.p.i;
  Real b.r.n.v;
  Real b.r.n.i;
  Real g.p.v;
  Real g.p.i;
equation
  s.p.v = time;
  b.r.p.v - b.r.n.v = b.r.p.i;
  b.r.p.i + b.r.n.i = 0;
  g.p.v = 0;
  s.p.v = b.p.v;
  b.n.v = g.p.v;
  b.p.v = b.r.p.v;
  b.r.n.v = b.n.v;
  s.p.i + b.p.i = 0;
  b.n.i + g.p.i = 0;
  b.r.p.i = b.p.i;
  b.r.n.i = b.n.i;
end M;

--- causal-connectors flatten ---
connector In = input Real;
connector Out = output Real;
block Gain
  parameter Real k = 1;
  In u;
  Out y;
equation
  y = k*u;
end Gain;
model M
  Gain a(k = 2), b(k = 3);
equation
  a.u = time;
  connect(a.y, b.u);
end M;
--- expect ---
model M
  parameter Real a.k = 2;
  Real a.u;
  Real a.y;
  parameter Real b.k = 3;
  Real b.u;
  Real b.y;
equation
  a.u = time;
  a.y = a.k*a.u;
  b.y = b.k*b.u;
  a.y = b.u;
end M;

--- connect-in-for flatten ---
connector Pin
  Real v;
  flow Real i;
end Pin;
model R
  Pin p, n;
equation
  p.v - n.v = p.i;
  p.i + n.i = 0;
end R;
model Source
  Pin p;
equation
  p.v = time;
end Source;
model Ground
  Pin p;
equation
  p.v = 0;
end Ground;
model M
  parameter Integer n = 3;
  Source s;
  R r[n];
  Ground g;
equation
  connect(s.p, r[1].p);
  for k in 1:n - 1 loop
    connect(r[k].n, r[k + 1].p);
  end for;
  connect(r[n].n, g.p);
end M;

--- expect ---
model M
  parameter Integer n = 3;
  Real s.p.v;
  Real s.p.i;
  Real r[1].p.v;
  Real r[1].p.i;
  Real r[1].n.v;
  Real r[1].n.i;
  Real r[2].p.v;
  Real r[2].p.i;
  Real r[2].n.v;
  Real r[2].n.i;
  Real r[3].p.v;
  Real r[3].p.i;
  Real r[3].n.v;
  Real r[3].n.i;
  Real g.p.v;
  Real g.p.i;
equation
  s.p.v = time;
  r[1].p.v - r[1].n.v = r[1].p.i;
  r[1].p.i + r[1].n.i = 0;
  r[2].p.v - r[2].n.v = r[2].p.i;
  r[2].p.i + r[2].n.i = 0;
  r[3].p.v - r[3].n.v = r[3].p.i;
  r[3].p.i + r[3].n.i = 0;
  g.p.v = 0;
  s.p.v = r[1].p.v;
  r[1].n.v = r[2].p.v;
  r[2].n.v = r[3].p.v;
  r[3].n.v = g.p.v;
  s.p.i + r[1].p.i = 0;
  r[1].n.i + r[2].p.i = 0;
  r[2].n.i + r[3].p.i = 0;
  r[3].n.i + g.p.i = 0;
end M;

--- inner-outer flatten ---
model World
  parameter Real g = 9.81;
end World;
model Body
  outer World world;
  Real v(start = 0, fixed = true);
equation
  der(v) = -world.g;
end Body;
model M
  inner World world(g = 1.62);
  Body a, b;
end M;
--- expect ---
model M
  parameter Real world.g = 1.62;
  Real a.v(start = 0, fixed = true);
  Real b.v(start = 0, fixed = true);
equation
  der(a.v) + world.g = 0;
  der(b.v) + world.g = 0;
end M;

--- missing-inner error check ---
model Body
  outer Real g;
  Real v = g;
end Body;
model M
  Body a;
end M;
--- expect ---
exit: 3
error: there is no inner declaration for outer g, and its class Real gives it no value
--> model.mo:2:14

--- expandable-bus flatten ---
connector Out = output Real;
connector In = input Real;
expandable connector Bus
end Bus;
model Sender
  Out y = time;
end Sender;
model Receiver
  In u;
  Real x = 2*u;
end Receiver;
model M
  Bus bus;
  Sender s;
  Receiver r;
equation
  connect(s.y, bus.speed);
  connect(bus.speed, r.u);
end M;
--- expect ---
model M
  Real bus.speed;
  Real s.y;
  Real r.u;
  Real r.x;
equation
  s.y = time;
  r.x = 2*r.u;
  s.y = bus.speed;
  bus.speed = r.u;
end M;

--- stream-of-two flatten ---
connector Port
  Real p;
  flow Real m_flow;
  stream Real h;
end Port;
model Source
  Port port;
equation
  port.p = 2 + time;
  port.h = 100;
end Source;
model Sink
  Port port;
  Real h_in = inStream(port.h);
equation
  port.p = 1 + port.m_flow;
  port.h = 50;
end Sink;
model M
  Source a;
  Sink b;
equation
  connect(a.port, b.port);
end M;
--- expect ---
model M
  Real a.port.p;
  Real a.port.m_flow;
  Real a.port.h;
  Real b.port.p;
  Real b.port.m_flow;
  Real b.port.h;
  Real b.h_in;
equation
  b.h_in = a.port.h;
  a.port.p = 2 + time;
  a.port.h = 100;
  b.port.p = 1 + b.port.m_flow;
  b.port.h = 50;
  a.port.p = b.port.p;
  a.port.m_flow + b.port.m_flow = 0;
end M;

--- incompatible-connectors error check ---
connector A
  Real v;
  flow Real i;
end A;
connector B
  Real w;
end B;
model M
  A a;
  B b;
equation
  connect(a, b);
  a.v = 1;
  b.w = 2;
end M;
--- expect ---
exit: 3
error: a has v, but b has not
--> model.mo:12:3

--- connection-to-a-switched-off-component-with-an-element-that-is-not-there check ---
connector In = input Real;
connector Out = output Real;
block Sum
  parameter Integer n = 1;
  In u[n];
  Out y = sum(u);
end Sum;
block Source
  Out y = 1;
end Source;
model M
  parameter Boolean second = false;
  Sum s(n = if second then 2 else 1);
  Source a;
  Source b if second;
equation
  connect(a.y, s.u[1]);
  connect(b.y, s.u[2]);
end M;
--- expect ---
M: no errors

--- pins-in-expandable-connectors simulate --stop 1 --intervals 1 ---
connector Pin
  Real v;
  flow Real i;
end Pin;
expandable connector Bus
end Bus;
model Source
  Pin p;
equation
  p.v = 10;
end Source;
model R
  Pin p;
equation
  p.v = 2*p.i;
end R;
model A
  Bus bus;
  R r;
equation
  connect(r.p, bus.plus);
end A;
model M
  A a;
  Source s;
equation
  connect(s.p, a.bus.plus);
end M;

--- expect ---
time,a.bus.plus.v,a.bus.plus.i,a.r.p.v,a.r.p.i,s.p.v,s.p.i
0.0,10.0,5.0,10.0,5.0,10.0,-5.0
1.0,10.0,5.0,10.0,5.0,10.0,-5.0

--- arrays-of-expandable-connectors simulate --stop 1 --intervals 1 ---
connector In = input Real;
connector Out = output Real;
expandable connector Bus
end Bus;
block Source
  parameter Real k = 1;
  Out y = k*time;
end Source;
block Sink
  In u;
  Real z = u;
end Sink;
model Cell
  Bus bus;
  Source s;
equation
  connect(s.y, bus.T);
end Cell;
model M
  Bus bus[2];
  Cell c[2](s(k = {1, 2}));
  Sink k[2];
equation
  connect(c.bus, bus);
  connect(bus.T, k.u);
end M;

--- expect ---
time,bus[1].T,bus[2].T,c[1].bus.T,c[1].s.y,c[2].bus.T,c[2].s.y,k[1].u,k[1].z,k[2].u,k[2].z
0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0
1.0,1.0,2.0,1.0,1.0,2.0,2.0,1.0,1.0,2.0,2.0

--- an-overdetermined-number simulate --stop 1 --intervals 1 ---
type Reference
  extends Real;
  function equalityConstraint
    input Reference a;
    input Reference b;
    output Real residue[0];
  algorithm
  end equalityConstraint;
end Reference;
connector C
  Reference r;
  Real v;
  flow Real i;
end C;
model Source
  C c;
equation
  Connections.root(c.r);
  c.r = time;
  c.v = 1;
end Source;
model Wire
  C a;
  C b;
equation
  Connections.branch(a.r, b.r);
  a.r = b.r;
  a.v - b.v = a.i;
  a.i + b.i = 0;
end Wire;
model Load
  C c;
equation
  c.i = c.v;
end Load;
model M
  Source s;
  Wire w1;
  Wire w2;
  Load l;
equation
  connect(s.c, w1.a);
  connect(s.c, w2.a);
  connect(w1.b, l.c);
  connect(w2.b, l.c);
end M;
--- expect ---
time,s.c.r,s.c.v,s.c.i,w1.a.r,w1.a.v,w1.a.i,w1.b.r,w1.b.v,w1.b.i,w2.a.r,w2.a.v,w2.a.i,w2.b.r,w2.b.v,w2.b.i,l.c.r,l.c.v,l.c.i
0.0,0.0,1.0,-0.6666666666666667,0.0,1.0,0.33333333333333337,0.0,0.6666666666666666,-0.33333333333333337,0.0,1.0,0.33333333333333337,0.0,0.6666666666666666,-0.33333333333333337,0.0,0.6666666666666666,0.6666666666666666
1.0,1.0,1.0,-0.6666666666666667,1.0,1.0,0.33333333333333337,1.0,0.6666666666666666,-0.33333333333333337,1.0,1.0,0.33333333333333337,1.0,0.6666666666666666,-0.33333333333333337,1.0,0.6666666666666666,0.6666666666666666
