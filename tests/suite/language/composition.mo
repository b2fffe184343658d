Inheritance, modifiers, redeclarations, connections (Modelica 3.6, chapters 5, 7, 9 and 15).

--- class-extends-and-redeclared-package simulate --stop 1 --intervals 1 ---
model M
  package A
    replaceable model X
      Real x = 1;
    end X;
  end A;
  package B
    extends A;
    redeclare model extends X
      Real y = x + 1;
    end X;
  end B;
  B.X q;
  package C = A(redeclare model X = Z);
  model Z
    Real x = 9;
  end Z;
  C.X z;
end M;
--- expect ---
time,q.x,q.y,z.x
0.0,1.0,2.0,9.0
1.0,1.0,2.0,9.0

--- redeclaration-within-a-constraint simulate --stop 1 --intervals 1 ---
model M
  model Base
    Real x;
  end Base;
  model G
    extends Base;
  equation
    x = 1;
  end G;
  model H
    extends Base;
    parameter Real k=2;
  equation
    x = k;
  end H;
  model W
    replaceable G g constrainedby Base;
  end W;
  W w(redeclare H g(k=7));
end M;
--- expect ---
time,w.g.x
0.0,7.0
1.0,7.0

--- redeclaration-that-lacks-what-the-constraint-has error check ---
model M
  model Base
    Real x;
  end Base;
  model G
    extends Base;
  equation
    x = 1;
  end G;
  model N
    Real y = 1;
  end N;
  model W
    replaceable G g constrainedby Base;
  end W;
  W w(redeclare N g);
end M;
--- expect ---
exit: 3
error: M.N cannot take the place of g: it has no x, which M.Base declares
--> model.mo:16:19

--- redeclaration-of-what-is-not-replaceable error check ---
model M
  model G
    Real x=1;
  end G;
  model H
    Real x=2;
  end H;
  model W
    G g;
  end W;
  W w(redeclare H g);
end M;
--- expect ---
exit: 3
error: g is not replaceable and cannot be redeclared
--> model.mo:11:19

--- redeclaration-by-an-unknown-class error check ---
model M
  model A
    replaceable Real x = 1;
  end A;
  A a(redeclare Foo x);
end M;
--- expect ---
exit: 3
error: the class Foo is not known here
--> model.mo:5:17

--- modifiers-of-array-elements simulate --stop 1 --intervals 1 ---
model M
  model S
    parameter Real p = 1;
    Real x = p*time;
  end S;
  S s[3](p={1,2,3});
  S t[2](each p=5);
  S u[2,2](p=[1,2;3,4]);
  S v[3](p=linspace(0,1,3));
  model W
    S s[2](p={10,20});
  end W;
  W w[2](s(p={{1,2},{3,4}}));
end M;
--- expect ---
time,s[1].x,s[2].x,s[3].x,t[1].x,t[2].x,"u[1,1].x","u[1,2].x","u[2,1].x","u[2,2].x",v[1].x,v[2].x,v[3].x,w[1].s[1].x,w[1].s[2].x,w[2].s[1].x,w[2].s[2].x
0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0
1.0,1.0,2.0,3.0,5.0,5.0,1.0,2.0,3.0,4.0,0.0,0.5,1.0,1.0,2.0,3.0,4.0

--- modifier-of-the-wrong-size error check ---
model M
  model S
    parameter Real p = 1;
  end S;
  S s[3](p = {1, 2});
end M;
--- expect ---
exit: 3
error: the modifier has the shape [2], too small for element [3]
--> model.mo:5:14

--- each-inside-a-modifier simulate --stop 1 --intervals 1 ---
model M
  model A
    Real x[2](start={1,2});
  equation
    der(x) = -x;
  end A;
  A a(x(each start=3, each fixed=true));
end M;
--- expect ---
time,a.x[1],a.x[2]
0.0,3.0,3.0
1.0,1.1036383561069056,1.1036383561069056

--- a-binding-removed simulate --stop 1 --intervals 1 ---
model M
  model A
    parameter Real p=1;
    Real x=p*time;
  end A;
  model B
    extends A(p=break);
    parameter Real q;
  end B;
  B b(p=4,q=1);
end M;
--- expect ---
time,b.x
0.0,0.0
1.0,4.0

--- final-parameter error check ---
model M
  model A
    final parameter Real p=1;
    Real x=p;
  end A;
  A a(p=2);
end M;
--- expect ---
exit: 3
error: p is final and cannot be modified
--> model.mo:6:9

--- modified-twice error check ---
model M
  model A
    Real x(start = 1, start = 2) = time;
  end A;
  A a;
end M;
--- expect ---
exit: 3
error: start is modified twice
--> model.mo:3:23

--- outer-function simulate --stop 1 --intervals 1 ---
model M
  inner Real T = 5;
  inner function f = g;
  function g
    input Real x;
    output Real y;
  algorithm
    y := 2*x;
  end g;
  model A
    outer Real T;
    outer function f
      input Real x;
      output Real y;
    end f;
    Real y = f(T);
  end A;
  A a;
end M;
--- expect ---
time,T,a.y
0.0,5.0,10.0
1.0,5.0,10.0

--- inner-outer simulate --stop 1 --intervals 1 ---
model M
  inner Real T = 1;
  model A
    outer Real T;
    Real x = T;
  end A;
  model B
    inner outer Real T;
    A a;
    A a2;
  end B;
  A a;
  B b(T=2);
end M;
--- expect ---
time,T,a.x,b.a.x,b.a2.x,b.T
0.0,1.0,1.0,2.0,2.0,2.0
1.0,1.0,1.0,2.0,2.0,2.0

--- connections-of-components-that-are-off simulate --stop 1 --intervals 1 ---
model M
  connector P
    Real v;
    flow Real i;
  end P;
  model R
    P p, n;
  equation
    p.v-n.v = p.i;
    p.i+n.i=0;
  end R;
  model G
    P p;
  equation
    p.v=0;
  end G;
  model S
    P p;
  equation
    p.v=2;
  end S;
  parameter Boolean b = false;
  R r1;
  R r2 if b;
  G g;
  S s;
equation
  connect(s.p, r1.p);
  connect(r1.n, g.p);
  connect(s.p, r2.p);
  connect(r2.n, g.p);
end M;
--- expect ---
time,b,r1.p.v,r1.p.i,r1.n.v,r1.n.i,g.p.v,g.p.i,s.p.v,s.p.i
0.0,false,2.0,2.0,0.0,-2.0,0.0,2.0,2.0,-2.0
1.0,false,2.0,2.0,0.0,-2.0,0.0,2.0,2.0,-2.0

--- component-that-is-off-in-an-expression error check ---
model M
  parameter Boolean b = false;
  Real x = 1 if b;
  Real y = x;
end M;
--- expect ---
exit: 3
error: x does not exist: the component is switched off by its condition
--> model.mo:4:12

--- connect-in-for-and-if simulate --stop 1 --intervals 1 ---
model M
  connector P
    Real v;
    flow Real i;
  end P;
  model R
    P p, n;
  equation
    p.v - n.v = p.i;
    p.i + n.i = 0;
  end R;
  model V
    parameter Real v = 0;
    P p;
  equation
    p.v = v;
  end V;
  parameter Integer k = 3;
  parameter Boolean b = true;
  R r[k];
  V s(v = 3), g;
  V other(v = 100);
equation
  for i in 1:k - 1 loop
    connect(r[i].n, r[i + 1].p);
  end for;
  if b then
    connect(s.p, r[1].p);
  else
    connect(other.p, r[1].p);
  end if;
  connect(r[k].n, g.p);
end M;
--- expect ---
time,k,b,r[1].p.v,r[1].p.i,r[1].n.v,r[1].n.i,r[2].p.v,r[2].p.i,r[2].n.v,r[2].n.i,r[3].p.v,r[3].p.i,r[3].n.v,r[3].n.i,s.p.v,s.p.i,g.p.v,g.p.i,other.p.v,other.p.i
0.0,3,true,3.0,1.0,2.0,-1.0,2.0,1.0,1.0,-1.0,1.0,1.0,0.0,-1.0,3.0,-1.0,0.0,1.0,100.0,0.0
1.0,3,true,3.0,1.0,2.0,-1.0,2.0,1.0,1.0,-1.0,1.0,1.0,0.0,-1.0,3.0,-1.0,0.0,1.0,100.0,0.0

--- connect-of-arrays simulate --stop 1 --intervals 1 ---
model M
  connector P
    Real v;
    flow Real i;
  end P;
  model R
    P p, n;
  equation
    p.v - n.v = p.i;
    p.i + n.i = 0;
  end R;
  model V
    parameter Real v = 0;
    P p;
  equation
    p.v = v;
  end V;
  R a[2], b[2];
  V s[2](v = {1, 2}), g[2];
equation
  connect(s.p, a.p);
  connect(a.n, b.p);
  connect(b.n, g.p);
end M;
--- expect ---
time,a[1].p.v,a[1].p.i,a[1].n.v,a[1].n.i,a[2].p.v,a[2].p.i,a[2].n.v,a[2].n.i,b[1].p.v,b[1].p.i,b[1].n.v,b[1].n.i,b[2].p.v,b[2].p.i,b[2].n.v,b[2].n.i,s[1].p.v,s[1].p.i,s[2].p.v,s[2].p.i,g[1].p.v,g[1].p.i,g[2].p.v,g[2].p.i
0.0,1.0,0.5,0.5,-0.5,2.0,1.0,1.0,-1.0,0.5,0.5,0.0,-0.5,1.0,1.0,0.0,-1.0,1.0,-0.5,2.0,-1.0,0.0,0.5,0.0,1.0
1.0,1.0,0.5,0.5,-0.5,2.0,1.0,1.0,-1.0,0.5,0.5,0.0,-0.5,1.0,1.0,0.0,-1.0,1.0,-0.5,2.0,-1.0,0.0,0.5,0.0,1.0

--- inside-and-outside simulate --stop 1 --intervals 1 ---
model M
  connector P
    Real v;
    flow Real i;
  end P;
  model R
    P p, n;
  equation
    p.v - n.v = p.i;
    p.i + n.i = 0;
  end R;
  model V
    parameter Real v = 0;
    P p;
  equation
    p.v = v;
  end V;
  model W
    P a, b;
    R r1, r2;
  equation
    connect(a, r1.p);
    connect(r1.n, r2.p);
    connect(r2.n, b);
  end W;
  W w;
  V s(v = 2), g;
equation
  connect(s.p, w.a);
  connect(w.b, g.p);
end M;
--- expect ---
time,w.a.v,w.a.i,w.b.v,w.b.i,w.r1.p.v,w.r1.p.i,w.r1.n.v,w.r1.n.i,w.r2.p.v,w.r2.p.i,w.r2.n.v,w.r2.n.i,s.p.v,s.p.i,g.p.v,g.p.i
0.0,2.0,1.0,0.0,-1.0,2.0,1.0,1.0,-1.0,1.0,1.0,0.0,-1.0,2.0,-1.0,0.0,1.0
1.0,2.0,1.0,0.0,-1.0,2.0,1.0,1.0,-1.0,1.0,1.0,0.0,-1.0,2.0,-1.0,0.0,1.0

--- connect-in-a-when error check ---
model M
  connector P
    Real v;
    flow Real i;
  end P;
  P a, b;
equation
  when time > 0.5 then
    connect(a, b);
  end when;
  a.v = 1;
end M;
--- expect ---
exit: 3
error: connect cannot stand in a when-clause
--> model.mo:9:5

--- connect-in-an-if-that-changes error check ---
model M
  connector P
    Real v;
    flow Real i;
  end P;
  P a, b;
equation
  if time > 0.5 then
    connect(a, b);
  end if;
  a.v = 1;
end M;
--- expect ---
exit: 3
error: time is not known when compiling
--> model.mo:8:6

--- inputs-without-a-source error check ---
model M
  connector RI = input Real;
  block T
    RI u;
    Real z = 2*u;
  end T;
  T a, b;
equation
  connect(a.u, b.u);
end M;
--- expect ---
exit: 4
warning: a.u, b.u are inputs that are connected to each other only: nothing gives them a value
error: the model is structurally singular: 2 equations for 3 unknowns; not determined: a.z, a.u, b.z
--> model.mo:5:14

--- inputs-that-are-not-connected error check ---
block Integrator
  input Real u;
  output Real y(start = 0, fixed = true);
equation
  der(y) = u;
end Integrator;
block Gain
  input Real u;
  output Real y = 2*u;
end Gain;
model M
  Gain g;
  Integrator i;
equation
  g.u = i.y;
end M;
--- expect ---
exit: 4
warning: the input i.u is not connected, and nothing gives it a value
--> model.mo:13:14
help: connect an output to it
error: the model is structurally singular

--- stream-of-three simulate --stop 1 --intervals 1 ---
model M
  connector P
    Real p;
    flow Real m;
    stream Real h;
  end P;
  model Src
    parameter Real h0=1;
    parameter Real m0=1;
    P p;
  equation
    p.m = -m0;
    p.h = h0;
  end Src;
  model Sink
    P p;
    Real hin = inStream(p.h);
    Real ha = actualStream(p.h);
  equation
    p.p = 1;
    p.h = 0;
  end Sink;
  Src a(h0=10,m0=1), b(h0=20,m0=3);
  Sink s;
equation
  connect(a.p,b.p);
  connect(a.p,s.p);
end M;
--- expect ---
time,a.p.p,a.p.m,a.p.h,b.p.p,b.p.m,b.p.h,s.p.p,s.p.m,s.p.h,s.hin,s.ha
0.0,1.0,-1.0,10.0,1.0,-3.0,20.0,1.0,4.0,0.0,17.5,17.5
1.0,1.0,-1.0,10.0,1.0,-3.0,20.0,1.0,4.0,0.0,17.5,17.5

--- stream-of-two simulate --stop 1 --intervals 1 ---
model M
  connector P
    Real p;
    flow Real m;
    stream Real h;
  end P;
  model Src
    parameter Real h0 = 1;
    P p;
  equation
    p.m = -1;
    p.h = h0;
  end Src;
  model Pipe
    P a, b;
  equation
    a.p = b.p;
    a.m + b.m = 0;
    a.h = inStream(b.h);
    b.h = inStream(a.h) + 1;
  end Pipe;
  model Sink
    P p;
    Real hin = inStream(p.h);
  equation
    p.p = 1;
    p.h = 100;
  end Sink;
  Src s(h0 = 5);
  Pipe q;
  Sink k;
equation
  connect(s.p, q.a);
  connect(q.b, k.p);
end M;
--- expect ---
time,s.p.p,s.p.m,s.p.h,q.a.p,q.a.m,q.a.h,q.b.p,q.b.m,q.b.h,k.p.p,k.p.m,k.p.h,k.hin
0.0,1.0,-1.0,5.0,1.0,1.0,100.0,1.0,-1.0,6.0,1.0,1.0,100.0,6.0
1.0,1.0,-1.0,5.0,1.0,1.0,100.0,1.0,-1.0,6.0,1.0,1.0,100.0,6.0

--- stream-of-an-open-connector simulate --stop 1 --intervals 1 ---
model M
  connector P
    Real p;
    flow Real m;
    stream Real h;
  end P;
  P a;
  Real x = inStream(a.h);
  Real y = actualStream(a.h);
equation
  a.p = 1;
  a.h = 3;
end M;
--- expect ---
time,a.p,a.m,a.h,x,y
0.0,1.0,0.0,3.0,3.0,3.0
1.0,1.0,0.0,3.0,3.0,3.0

--- actual-stream-after-the-flow-turned simulate --stop 2 --intervals 2 ---
model M
  connector P
    Real p;
    flow Real m;
    stream Real h;
  end P;
  model Src
    parameter Real h0 = 1;
    P p;
    Real a = actualStream(p.h);
  equation
    p.m = 1 - time;
    p.h = h0;
  end Src;
  model Vol
    parameter Real h0 = 9;
    P p;
  equation
    p.p = 1;
    p.h = h0;
  end Vol;
  Src s;
  Vol v;
equation
  connect(s.p, v.p);
end M;
--- expect ---
time,s.p.p,s.p.m,s.p.h,s.a,v.p.p,v.p.m,v.p.h
0.0,1.0,1.0,1.0,9.0,1.0,-1.0,9.0
1.0,1.0,0.0,1.0,1.0,1.0,0.0,9.0
2.0,1.0,-1.0,1.0,1.0,1.0,1.0,9.0

--- streams-of-two-whatever-the-bounds simulate --stop 1 --intervals 1 ---
model M
  connector P
    Real p;
    flow Real m;
    stream Real h;
  end P;
  model Src
    P p;
  equation
    p.m = -1;
    p.h = 5;
  end Src;
  model Pipe
    P a(m(min = 0)), b(m(max = 0));
  equation
    a.p = b.p;
    a.m + b.m = 0;
    a.h = inStream(b.h);
    b.h = inStream(a.h) + 1;
  end Pipe;
  model W
    P a, b;
    Pipe q;
  equation
    connect(a, q.a);
    connect(q.b, b);
  end W;
  model Sink
    P p;
    Real hin = inStream(p.h);
  equation
    p.p = 1;
    p.h = 100;
  end Sink;
  Src s;
  W w;
  Sink k;
equation
  connect(s.p, w.a);
  connect(w.b, k.p);
end M;
--- expect ---
time,s.p.p,s.p.m,s.p.h,w.a.p,w.a.m,w.a.h,w.b.p,w.b.m,w.b.h,w.q.a.p,w.q.a.m,w.q.a.h,w.q.b.p,w.q.b.m,w.q.b.h,k.p.p,k.p.m,k.p.h,k.hin
0.0,1.0,-1.0,5.0,1.0,1.0,100.0,1.0,-1.0,6.0,1.0,1.0,100.0,1.0,-1.0,6.0,1.0,1.0,100.0,6.0
1.0,1.0,-1.0,5.0,1.0,1.0,100.0,1.0,-1.0,6.0,1.0,1.0,100.0,1.0,-1.0,6.0,1.0,1.0,100.0,6.0

--- expandable-connectors simulate --stop 1 --intervals 1 ---
model M
  expandable connector B
    Real x;
  end B;
  connector RO = output Real;
  connector RI = input Real;
  block S
    RO y = time;
  end S;
  block T
    RI u;
    Real z = 2*u;
  end T;
  B b;
  S s;
  T t;
  B b2;
equation
  connect(s.y, b.sig);
  connect(b, b2);
  connect(b2.sig, t.u);
  b.x = 1;
end M;
--- expect ---
time,b.x,b.sig,s.y,t.u,t.z,b2.x,b2.sig
0.0,1.0,0.0,0.0,0.0,0.0,1.0,0.0
1.0,1.0,1.0,1.0,1.0,2.0,1.0,1.0

--- array-in-an-expandable-connector simulate --stop 1 --intervals 1 ---
model M
  expandable connector B
  end B;
  connector RO = output Real;
  connector RI = input Real;
  block S
    RO y = time;
  end S;
  block T
    RI u;
    Real z = 2*u;
  end T;
  B b;
  S s[2];
  T t;
equation
  connect(s[1].y, b.sig[1]);
  connect(s[2].y, b.sig[2]);
  connect(b.sig[2], t.u);
end M;
--- expect ---
time,b.sig[1],b.sig[2],s[1].y,s[2].y,t.u,t.z
0.0,0.0,0.0,0.0,0.0,0.0,0.0
1.0,1.0,1.0,1.0,1.0,1.0,2.0

--- root-and-branches simulate --stop 1 --intervals 1 ---
model M
  record O
    Real a;
    Real b;
    function equalityConstraint
      input O x;
      input O y;
      output Real r[1];
    algorithm
      r[1] := x.a-y.a;
    end equalityConstraint;
  end O;
  connector P
    O R;
    flow Real f;
  end P;
  model Bd
    P p;
  equation
    p.R.a=1;
    p.R.b = time;
    Connections.root(p.R);
  end Bd;
  model L
    P a,b;
  equation
    Connections.branch(a.R,b.R);
    a.R = b.R;
    a.f+b.f=0;
  end L;
  Bd bd;
  L l1, l2;
  Boolean r = Connections.isRoot(bd.p.R), q = Connections.rooted(l1.a.R);
equation
  connect(bd.p,l1.a);
  connect(l1.b,l2.a);
end M;
--- expect ---
time,bd.p.R.a,bd.p.R.b,bd.p.f,l1.a.R.a,l1.a.R.b,l1.a.f,l1.b.R.a,l1.b.R.b,l1.b.f,l2.a.R.a,l2.a.R.b,l2.a.f,l2.b.R.a,l2.b.R.b,l2.b.f,r,q
0.0,1.0,0.0,0.0,1.0,0.0,-0.0,1.0,0.0,0.0,1.0,0.0,-0.0,1.0,0.0,0.0,true,true
1.0,1.0,1.0,0.0,1.0,1.0,-0.0,1.0,1.0,0.0,1.0,1.0,-0.0,1.0,1.0,0.0,true,true

--- potential-root-of-least-priority simulate --stop 1 --intervals 1 ---
model M
  record O
    Real a;
    function equalityConstraint
      input O x;
      input O y;
      output Real r[0];
    algorithm
    end equalityConstraint;
  end O;
  connector P
    O R;
    flow Real f;
  end P;
  model B
    P p;
    parameter Integer pr = 0;
    Real x;
  equation
    Connections.potentialRoot(p.R, priority = pr);
    if Connections.isRoot(p.R) then
      p.R.a = pr;
      x = p.f;
    else
      x = 7;
      p.f = 1;
    end if;
  end B;
  B a(pr = 5), b(pr = 2);
equation
  connect(a.p, b.p);
end M;
--- expect ---
time,a.p.R.a,a.p.f,a.x,b.p.R.a,b.p.f,b.x
0.0,2.0,1.0,7.0,2.0,-1.0,-1.0
1.0,2.0,1.0,7.0,2.0,-1.0,-1.0

--- import-before-the-enclosing-scope simulate --stop 1 --intervals 1 ---
package P
  constant Real c = 1;
  package Q
    constant Real c = 2;
  end Q;
  model M
    import P.Q.c;
    Real x = c;
  end M;
end P;
--- expect ---
time,x
0.0,2.0
1.0,2.0

--- a-graph-without-a-root error check ---
model M
  record O
    Real a;
    function equalityConstraint
      input O x;
      input O y;
      output Real r[0];
    algorithm
    end equalityConstraint;
  end O;
  connector P
    O R;
    flow Real f;
  end P;
  model L
    P a, b;
  equation
    Connections.branch(a.R, b.R);
    a.R = b.R;
    a.f + b.f = 0;
  end L;
  L l1, l2;
equation
  connect(l1.b, l2.a);
end M;
--- expect ---
exit: 4
warning: l1.a.R and what is connected to it have no root

--- each-passes-one-array-only simulate --stop 0 ---
model M
  record Layer
    parameter Real d = 1;
  end Layer;
  record Wall
    parameter Integer n = 1;
    parameter Layer layer[n];
    parameter Real sum = sum(layer[i].d for i in 1:n);
  end Wall;
  model Conduction
    parameter Wall wall;
    Real x = wall.sum;
  end Conduction;
  parameter Layer all[3](d = {1, 2, 3});
  Conduction c[2](each wall(n = 2, layer = {all[i] for i in 2:3}));
end M;
--- expect ---
time,c[1].x,c[2].x
0.0,5.0,5.0

--- nested-expandable-connectors simulate --stop 1 --intervals 1 ---
model M
  expandable connector Sub
  end Sub;
  expandable connector B
    Sub s;
  end B;
  connector RO = output Real;
  connector RI = input Real;
  block S
    RO y = time;
  end S;
  block T
    RI u;
    Real z = 3*u;
  end T;
  B b;
  S s;
  T t;
equation
  connect(s.y, b.s.x);
  connect(b.s.x, t.u);
end M;
--- expect ---
time,b.s.x,s.y,t.u,t.z
0.0,0.0,0.0,0.0,0.0
1.0,1.0,1.0,1.0,3.0

--- expandable-connector-without-a-source error check ---
model M
  expandable connector B
  end B;
  connector RI = input Real;
  block T
    RI u;
    Real z = 3*u;
  end T;
  B b;
  T t;
equation
  connect(b.x, t.u);
end M;
--- expect ---
exit: 4
error: the model is structurally singular: 1 equations for 2 unknowns; not determined: t.z, b.x
--> model.mo:7:14

--- connectors-of-different-classes error check ---
model M
  connector A
    Real v;
    flow Real i;
  end A;
  connector B
    Real v;
  end B;
  A a;
  B b;
equation
  connect(a, b);
  a.v = 1;
end M;
--- expect ---
exit: 3
error: a has i, but b has not
--> model.mo:12:3

--- connectors-of-different-sizes error check ---
model M
  connector A
    Real v;
    flow Real i;
  end A;
  A a[2];
  A b[3];
equation
  connect(a, b);
end M;
--- expect ---
exit: 3
error: a has the shape [2], but b has the shape [3]
--> model.mo:9:3

--- inherited-twice-and-different error check ---
model M
  model A
    Real x = 1;
  end A;
  model B
    Real x = 2;
  end B;
  extends A;
  extends B;
end M;
--- expect ---
exit: 3
error: x is inherited twice, and the declarations differ
--> model.mo:6:10

--- inherited-twice-by-two-ways simulate --stop 1 --intervals 1 ---
model M
  model A
    parameter Real x = 1;
  end A;
  model B
    extends A;
  end B;
  model C
    extends A;
  end C;
  extends B;
  extends C;
  Real y = x;
end M;
--- expect ---
time,x,y
0.0,1.0,1.0
1.0,1.0,1.0

--- extends-of-an-unknown-class error check ---
model M
  extends Foo;
end M;
--- expect ---
exit: 3
error: the class Foo is not known here
--> model.mo:2:11

--- modifier-of-a-protected-parameter simulate --stop 1 --intervals 1 ---
model M
  model A
  protected
    parameter Real p = 1;
  public
    Real x = p;
  end A;
  A a(p = 3);
end M;
--- expect ---
time,a.x
0.0,3.0
1.0,3.0

--- conditional-output simulate --stop 1 --intervals 1 ---
model M
  parameter Boolean b = true;
  output Real y = time if b;
  model N
    Real z = 5;
  end N;
  N n if not b;
end M;
--- expect ---
time,b,y
0.0,true,0.0
1.0,true,1.0

--- condition-that-is-no-parameter error check ---
model M
  Real x = 1 if time > 0.5;
end M;
--- expect ---
exit: 3
error: time is not known when compiling
--> model.mo:2:17

--- annotations-of-vendors simulate --stop 1 --intervals 1 ---
model M
  Real x = time annotation(Foo(bar = 1), __Vendor(x));
  annotation(experiment(StopTime = 2), __Dymola_x = 3, Documentation(info = "<html></html>"));
end M;
--- expect ---
time,x
0.0,0.0
1.0,1.0

--- modifiers-outlive-redeclarations simulate --stop 1 --intervals 1 ---
model A0
  parameter Real x = 1;
  Real z = x;
end A0;
model A1
  extends A0;
  Real y = 2;
end A1;
model B0
  replaceable A0 a(x = 7);
end B0;
model B1
  extends B0(a.x = 9);
end B1;
model C0
  replaceable model A = A0;
  A a;
end C0;
model C1
  extends C0(A(x = 3));
end C1;
model C2
  extends C1;
  redeclare model A = A1;
end C2;
package P0
  replaceable model A
    parameter Real x = 1;
    Real z = x;
  end A;
end P0;
package P1
  extends P0(A(x = 3));
end P1;
package P2 = P0(A(x = 4));
package P3
  extends P1;
  redeclare model extends A
    Real y = 2;
  end A;
end P3;
package P4
  extends P2;
  redeclare model extends A(x = 5)
    Real y = 2;
  end A;
end P4;
package P5
  extends P2;
  redeclare model extends A
    Real y = 2;
  end A;
end P5;
model H
  C0 c(redeclare replaceable model A = A0 constrainedby A0(x = 10));
end H;
model M
  B1 b(redeclare A1 a) "9";
  C2 c "3";
  P3.A p3 "3";
  P4.A p4 "5";
  P5.A p5 "4";
  H h(c(redeclare model A = A1)) "10";
end M;

--- expect ---
time,b.a.z,b.a.y,c.a.z,c.a.y,p3.z,p3.y,p4.z,p4.y,p5.z,p5.y,h.c.a.z,h.c.a.y
0.0,9.0,2.0,3.0,2.0,3.0,2.0,5.0,2.0,4.0,2.0,10.0,2.0
1.0,9.0,2.0,3.0,2.0,3.0,2.0,5.0,2.0,4.0,2.0,10.0,2.0

--- inherited-twice-with-different-modifiers error check ---
model A
  Real x = 1;
end A;
model B
  extends A(x(start = 1));
end B;
model M
  extends A(x(start = 2));
  extends B;
end M;
--- expect ---
exit: 3
x is inherited twice, with different modifiers
model.mo:2

--- inherited-twice-with-the-same-modifiers simulate --stop 1 --intervals 1 ---
model A
  parameter Real p = 1;
  Real x = p;
end A;
model B
  extends A(p = 2);
end B;
model M
  extends A(p = 2);
  extends B;
end M;

--- expect ---
time,p,x
0.0,2.0,2.0
1.0,2.0,2.0

--- outer-with-a-modifier error check ---
model W
  parameter Real g = 1;
end W;
model A
  outer W w(g = 3);
  Real x = w.g;
end A;
model M
  inner W w;
  A a;
end M;
--- expect ---
exit: 3
model.mo:5
w is outer

--- the-constraint-of-a-redeclaration-holds-for-it simulate --stop 0 ---
// A redeclaration in a modifier, in a class body and of a record whose sizes the constraint tells.
model P
  parameter Real a = 1;
  Real y = a;
end P;
model Q
  extends P;
end Q;
record R
  parameter Real a;
  parameter Real t[:];
end R;
record S
  extends R(a = 2);
end S;
record T
  extends R(a = 7);
end T;
model H
  replaceable P c constrainedby P;
end H;
model K
  extends H(redeclare replaceable Q c constrainedby P(a = 4));
end K;
model L
  extends H;
  redeclare replaceable Q c constrainedby P(a = 5);
end L;
model G
  replaceable parameter R r constrainedby R;
  Real y = sum(r.t) + r.a;
end G;
model F
  extends G(redeclare replaceable S r constrainedby R(t = size));
  parameter Real size[:] = {1, 2, 3};
end F;
model M
  K k;
  L l;
  H h(redeclare replaceable Q c constrainedby P(a = 9)), i(redeclare Q c(a = 6));
  F f, g(redeclare T r), e(size = {5});
end M;
--- expect ---
time,k.c.y,l.c.y,h.c.y,i.c.y,f.y,g.y,e.y
0.0,4.0,5.0,9.0,6.0,8.0,13.0,7.0

--- what-an-extends-clause-leaves-out simulate --stop 0 --variables i ---
// The currents are 6/2, 12/(1 + 3), 6/(1 + 2) and 4/2. A component is gone with its connections and may be declared anew; a connection alone may be left out, in either order.
connector Pin
  Real v;
  flow Real i;
end Pin;
model Source
  parameter Real v = 6;
  Pin p;
equation
  p.v = v;
end Source;
model Resistor
  parameter Real R = 2;
  Pin p, n;
equation
  p.v - n.v = R*p.i;
  p.i + n.i = 0;
end Resistor;
model Ground
  Pin p;
equation
  p.v = 0;
end Ground;
model Circuit
  Source s;
  Resistor r;
  Ground g;
equation
  connect(s.p, r.p);
  connect(r.n, g.p);
end Circuit;
model Other
  extends Circuit(break r, s(v = 12));
  Resistor a(R = 1), b(R = 3);
equation
  connect(s.p, a.p);
  connect(a.n, b.p);
  connect(b.n, g.p);
end Other;
model Between
  extends Circuit(break connect(r.p, s.p));
  Resistor a(R = 1);
equation
  connect(s.p, a.p);
  connect(a.n, r.p);
end Between;
model Anew
  extends Circuit(break s);
  Source s(v = 4);
equation
  connect(s.p, r.p);
end Anew;
model M
  Circuit plain;
  Other other;
  Between between;
  Anew anew;
  Real i[4] = {plain.r.p.i, other.b.p.i, between.r.p.i, anew.r.p.i};
end M;

--- expect ---
time,i[1],i[2],i[3],i[4]
0.0,3.0,3.0,2.0,2.0

--- nothing-to-leave-out error check ---
model B
  Real x = 1;
  type T = Real;
end B;
model M
  extends B(break y, break T, break connect(x, z));
end M;

--- expect ---
exit: 3
error: B has no component y that could be left out
--> model.mo:6:19
error: B has no component T that could be left out
--> model.mo:6:28
error: B has no connect(x, z) that could be left out
--> model.mo:6:31

--- leaving-out-is-for-extends-clauses error check ---
model C
  Real u = 1;
end C;
model M
  C c(break u);
  extends C(u(break v));
end M;

--- expect ---
exit: 3
--> model.mo:5:7
--> model.mo:6:15
`break` leaves something out in the list of an extends clause only

--- what-is-left-out-cannot-be-used error check ---
model B
  Real x = 1;
  Real y = x + 1;
end B;
model M
  extends B(break x);
end M;

--- expect ---
exit: 3
error: x is not known in
--> model.mo:3:12
