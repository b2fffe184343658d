Constructs that meet each other, as they do in libraries.

--- components-redeclared-in-arrays-within-a-constraint simulate --stop 0 ---
model M
  partial model Base parameter Real k = 1; Real y; end Base;
  model A extends Base; equation y = k; end A;
  model B extends Base(k = 10); parameter Real c = 3; equation y = k*c; end B;
  model Sys
    parameter Integer n = 2;
    replaceable A part[n](k = {1, 2}) constrainedby Base(each k = 5);
  end Sys;
  Sys s1;
  Sys s2(redeclare B part[2](c = {7, 8}));
  Sys s3(n = 3, redeclare B part(each c = 1, k = {4, 5, 6}));
end M;

--- expect ---
time,s1.part[1].y,s1.part[2].y,s2.part[1].y,s2.part[2].y,s3.part[1].y,s3.part[2].y,s3.part[3].y
0.0,1.0,2.0,35.0,40.0,4.0,5.0,6.0

--- inner-and-outer-over-several-levels simulate --stop 0 ---
model M
  model World parameter Real g = 9.81; parameter Real h = 1; end World;
  model Leaf outer World world; Real w = world.g*world.h; end Leaf;
  model Mid inner World world(g = 2, h = 3); Leaf l; end Mid;
  model Mid2 outer World world; Leaf l; Real z = world.g; end Mid2;
  model Mid3 inner outer World world(h = 50); Leaf l; Real up = world.h; end Mid3;
  inner World world(g = 7);
  Mid m; Mid2 m2; Leaf l;
end M;

--- expect ---
time,m.l.w,m2.l.w,m2.z,l.w
0.0,6.0,7.0,7.0,7.0

--- a-medium-with-replaceable-functions-and-records simulate --stop 0 ---
package P
  partial package PartialMedium
    constant String name = "none";
    constant Integer nS = 1;
    constant Integer nX = nS - 1;
    replaceable record State end State;
    replaceable partial model BaseProperties
      Real p, T, d; State state; Real X[nX];
    end BaseProperties;
    replaceable partial function density input State s; output Real d; end density;
    replaceable function twice input State s; output Real d; algorithm d := 2*density(s); end twice;
  end PartialMedium;
  package Ideal
    extends PartialMedium(name = "ideal", nS = 3);
    constant Real R = 287;
    redeclare record extends State Real p; Real T; end State;
    redeclare model extends BaseProperties
    equation d = p/(R*T); state.p = p; state.T = T; X = fill(0.5, nX);
    end BaseProperties;
    redeclare function extends density algorithm d := s.p/(R*s.T); end density;
  end Ideal;
  package Half
    extends Ideal(R = 574);
    redeclare function twice input State s; output Real d; algorithm d := 4*density(s); end twice;
  end Half;
  model Vol
    replaceable package Medium = PartialMedium;
    Medium.BaseProperties m(p = 287000, T = 500);
    Real d2 = Medium.twice(m.state);
    Real r = Medium.density(Medium.State(p = 574, T = 1));
    parameter Integer n = Medium.nX;
  end Vol;
  model M
    package Med = Half;
    Vol a(redeclare package Medium = Ideal);
    Vol b(redeclare package Medium = Med);
  end M;
end P;

--- expect ---
time,a.m.p,a.m.T,a.m.d,a.m.state.p,a.m.state.T,a.m.X[1],a.m.X[2],a.d2,a.r,b.m.p,b.m.T,b.m.d,b.m.state.p,b.m.state.T,b.m.X[1],b.m.X[2],b.d2,b.r
0.0,287000.0,500.0,2.0,287000.0,500.0,0.5,0.5,4.0,2.0,287000.0,500.0,1.0,287000.0,500.0,0.5,0.5,4.0,1.0

--- constructors-with-defaults-and-sizes simulate --stop 0 ---
model M
  record R
    parameter Integer n = 2;
    Real v[n] = fill(3.0, n);
    Real s = sum(v);
    constant Real c = 4;
    final parameter Real f = 5;
  end R;
  record S Real x; R r; end S;
  R a = R();
  R b = R(n = 3);
  R c(n = 2) = R(2, {1, 2});
  S d = S(1, R(v = {8, 9}));
  function f input R r; output Real y; algorithm y := r.s + size(r.v, 1); end f;
  Real y = f(R(n = 4)), z = f(R(v = {1, 1}, s = 100));
end M;

--- expect ---
time,a.v[1],a.v[2],a.s,b.v[1],b.v[2],b.v[3],b.s,c.v[1],c.v[2],c.s,d.x,d.r.v[1],d.r.v[2],d.r.s,y,z
0.0,3.0,3.0,6.0,3.0,3.0,3.0,9.0,1.0,2.0,3.0,1.0,8.0,9.0,17.0,16.0,102.0

--- slices-through-arrays-of-components simulate --stop 0 ---
model M
  model C parameter Real k = 1; Real y = 2*k; Real v[2] = {k, -k}; end C;
  C c[3](k = {1, 2, 3});
  Real b = sum(c[i].y*i for i in 1:size(c, 1));
  Real d[3, 2] = c.v;
  Real e[3] = c.v[1];
  Real f[2] = c[2:3].y;
  Real g = max(c[i].k for i in 1:size(c, 1));
  Real h[3] = c[:].v[2];
  Real m[2, 2] = c[{1, 3}].v;
end M;

--- expect ---
time,c[1].y,c[1].v[1],c[1].v[2],c[2].y,c[2].v[1],c[2].v[2],c[3].y,c[3].v[1],c[3].v[2],b,"d[1,1]","d[1,2]","d[2,1]","d[2,2]","d[3,1]","d[3,2]",e[1],e[2],e[3],f[1],f[2],g,h[1],h[2],h[3],"m[1,1]","m[1,2]","m[2,1]","m[2,2]"
0.0,2.0,1.0,-1.0,4.0,2.0,-2.0,6.0,3.0,-3.0,28.0,1.0,-1.0,2.0,-2.0,3.0,-3.0,1.0,2.0,3.0,4.0,6.0,3.0,-1.0,-2.0,-3.0,1.0,-1.0,3.0,-3.0

--- sizes-of-arrays-of-components simulate --stop 0 ---
model M
  connector P Real v; flow Real i; end P;
  model A parameter Real k = 1; Real y = k; P p; equation p.v = k; end A;
  A a[3](k = {1, 2, 3}); P ports[4];
  Integer n = size(ports, 1);
  Integer m = size(a, 1);
  Integer d = ndims(a);
equation
  for i in 1:size(a, 1) loop connect(a[i].p, ports[i]); end for;
  ports[4].v = 7;
end M;

--- expect ---
time,a[1].y,a[1].p.v,a[1].p.i,a[2].y,a[2].p.v,a[2].p.i,a[3].y,a[3].p.v,a[3].p.i,ports[1].v,ports[1].i,ports[2].v,ports[2].i,ports[3].v,ports[3].i,ports[4].v,ports[4].i,n,m,d
0.0,1.0,1.0,0.0,2.0,2.0,0.0,3.0,3.0,0.0,1.0,0.0,2.0,0.0,3.0,0.0,7.0,0.0,4,3,1

--- end-in-nested-subscripts simulate --stop 0 ---
model M
  parameter Integer idx[:] = {3, 1, 2};
  parameter Real v[:] = {10, 20, 30, 40};
  parameter Real A[:, :] = [1, 2, 3; 4, 5, 6];
  Real a = v[idx[end]];
  Real b = v[end - idx[end - 1]];
  Real c = A[end, idx[end]];
  Real d = A[idx[end], end];
  Real e[2] = v[end - 1:end];
  Real f[3] = v[{end, 1, end - 1}];
  Real g = v[integer(sum(A[1, 1:end - 1])) + 1];
  Real h = A[end, end - A_n(1)];
  function A_n input Integer i; output Integer o; algorithm o := i; end A_n;
end M;

--- expect ---
time,idx[1],idx[2],idx[3],v[1],v[2],v[3],v[4],"A[1,1]","A[1,2]","A[1,3]","A[2,1]","A[2,2]","A[2,3]",a,b,c,d,e[1],e[2],f[1],f[2],f[3],g,h
0.0,3,1,2,10.0,20.0,30.0,40.0,1.0,2.0,3.0,4.0,5.0,6.0,20.0,30.0,5.0,6.0,30.0,40.0,40.0,10.0,30.0,40.0,5.0

--- slices-on-the-left simulate --stop 0 ---
model M
  Real v[4], A[2, 3], w[4];
  Real t[3];
  function f input Real x; output Real y[4]; output Real B[2,2]; algorithm
    y[1:2] := {x, 2*x}; y[end - 1:end] := {3, 4}; y[{1, 3}] := y[{3, 1}];
    B[:, 1] := {1, 2}; B[1:2, 2] := B[:, 1]*2; end f;
  Real B[2,2];
equation
  v[1:2] = {1, 2};
  v[{4, 3}] = {4, 3};
  A[1, :] = {1, 2, 3};
  A[2, end:-1:1] = {4, 5, 6};
  (w, B) = f(7);
algorithm
  t[2:3] := {5, 6};
  t[1] := t[end] + 1;
end M;

--- expect ---
time,v[1],v[2],v[3],v[4],"A[1,1]","A[1,2]","A[1,3]","A[2,1]","A[2,2]","A[2,3]",w[1],w[2],w[3],w[4],t[1],t[2],t[3],"B[1,1]","B[1,2]","B[2,1]","B[2,2]"
0.0,1.0,2.0,3.0,4.0,1.0,2.0,3.0,6.0,5.0,4.0,3.0,14.0,7.0,4.0,7.0,5.0,6.0,1.0,2.0,2.0,4.0

--- when-in-a-for-loop simulate --stop 2 --intervals 2 ---
model M
  parameter Integer n = 3;
  discrete Real x[n](each start = 0, each fixed = true);
  Integer k[n](each start = 0, each fixed = true);
equation
  for i in 1:n loop
    when time >= 0.5*i then
      x[i] = time*10;
      k[i] = pre(k[i]) + i;
    end when;
  end for;
end M;

--- expect ---
time,n,x[1],x[2],x[3],k[1],k[2],k[3]
0.0,3,0.0,0.0,0.0,0,0,0
0.5,3,0.0,0.0,0.0,0,0,0
0.5,3,5.0,0.0,0.0,1,0,0
1.0,3,5.0,0.0,0.0,1,0,0
1.0,3,5.0,10.0,0.0,1,2,0
1.5,3,5.0,10.0,0.0,1,2,0
1.5,3,5.0,10.0,15.0,1,2,3
2.0,3,5.0,10.0,15.0,1,2,3

--- when-in-a-for-loop-of-an-algorithm simulate --stop 2 --intervals 2 ---
model M
  parameter Integer n = 3;
  Integer c(start = 0, fixed = true);
algorithm
  for i in 1:n loop
    when time >= 0.5*i then
      c := pre(c) + i;
    end when;
  end for;
end M;

--- expect ---
time,n,c
0.0,3,0
0.5,3,0
0.5,3,1
1.0,3,1
1.0,3,3
1.5,3,3
1.5,3,6
2.0,3,6

--- dimensions-and-iterators-of-enumerations simulate --stop 0 ---
model M
  type E = enumeration(a, b, c);
  parameter Real p[E] = {1, 2, 3};
  Real q[E, Boolean];
  Real r[3] = {p[e]*2 for e in E};
  Real s = sum(p[e] for e in E.b:E.c);
  Integer n = size(p, 1), m = size(q, 2);
  Real t[Boolean] = {if b then 1 else -1 for b in Boolean};
  E es[:] = {e for e in E};
  Integer o[3] = {Integer(e) for e in E};
  E mx = max(es), mn = min(E.b, E.c);
equation
  for e in E loop
    for b in Boolean loop
      q[e, b] = Integer(e) + (if b then 10 else 0);
    end for;
  end for;
end M;

--- expect ---
time,p[1],p[2],p[3],"q[1,1]","q[1,2]","q[2,1]","q[2,2]","q[3,1]","q[3,2]",r[1],r[2],r[3],s,n,m,t[1],t[2],es[1],es[2],es[3],o[1],o[2],o[3],mx,mn
0.0,1.0,2.0,3.0,1.0,11.0,2.0,12.0,3.0,13.0,2.0,4.0,6.0,5.0,3,2,-1.0,1.0,1,2,3,1,2,3,3,2

--- imports-side-by-side simulate --stop 0 ---
package L
  constant Real c1 = 1;
  package In constant Real c2 = 2; constant Real c3 = 3; model Q Real x = c3; end Q; function f input Real x; output Real y = x + c2; end f; end In;
end L;
model M
  import L;
  import I = L.In;
  import L.In.c2;
  import L.In.{c3, f};
  import L.In.*;
  Real a = L.c1, b = I.c2, c = c2, d = c3, e = f(1), g = f(2);
  Q q;
end M;

--- expect ---
time,a,b,c,d,e,g,q.x
0.0,1.0,2.0,2.0,3.0,3.0,4.0,3.0

--- buses-in-buses simulate --stop 0 ---
model M
  connector RI = input Real; connector RO = output Real;
  expandable connector Sub end Sub;
  expandable connector Bus Sub engine; end Bus;
  block Src parameter Real k; RO y = k; end Src;
  block Snk RI u; Real x = 2*u; end Snk;
  model Eng Bus bus; Src s(k = 5); equation connect(s.y, bus.engine.speed); end Eng;
  model Ctl Bus bus; Snk s; Snk t; equation connect(bus.engine.speed, s.u); connect(bus.v[2], t.u); end Ctl;
  Bus bus; Eng e; Ctl c; Src v1(k = 1), v2(k = 2);
equation
  connect(e.bus, bus); connect(c.bus, bus);
  connect(v1.y, bus.v[1]); connect(v2.y, bus.v[2]);
end M;

--- expect ---
time,bus.engine.speed,bus.v[1],bus.v[2],e.bus.engine.speed,e.bus.v[1],e.bus.v[2],e.s.y,c.bus.engine.speed,c.bus.v[1],c.bus.v[2],c.s.u,c.s.x,c.t.u,c.t.x,v1.y,v2.y
0.0,5.0,1.0,2.0,5.0,1.0,2.0,5.0,5.0,1.0,2.0,5.0,10.0,2.0,4.0,1.0,2.0

--- connectors-that-may-be-off simulate --stop 0 ---
model M
  connector RI = input Real; connector RO = output Real;
  block Src parameter Real k; RO y = k; end Src;
  block Blk
    parameter Boolean useU = false; parameter Real u0 = 3;
    RI u if useU;
    Real y = 2*ui;
  protected
    RI ui;
  equation
    connect(u, ui);
    if not useU then ui = u0; end if;
  end Blk;
  Src s(k = 8);
  Blk a; Blk b(useU = true);
equation
  connect(s.y, b.u);
end M;

--- expect ---
time,s.y,a.y,a.ui,b.u,b.y,b.ui
0.0,8.0,6.0,3.0,8.0,16.0,8.0

--- streams-of-four simulate --stop 0 ---
model M
  connector F Real p; flow Real m; stream Real h; end F;
  model Src parameter Real m0, h0; F f; Real hin = inStream(f.h), ha = actualStream(f.h); equation f.m = -m0; f.h = h0; end Src;
  model Snk parameter Real h0 = 1; F f; Real hin = inStream(f.h), ha = actualStream(f.h); equation f.p = 1; f.h = h0; end Snk;
  Src a(m0 = 1, h0 = 10), b(m0 = 3, h0 = 20), c(m0 = -2, h0 = 99); Snk s;
equation
  connect(a.f, s.f); connect(b.f, s.f); connect(c.f, a.f);
end M;

--- expect ---
time,a.f.p,a.f.m,a.f.h,a.hin,a.ha,b.f.p,b.f.m,b.f.h,b.hin,b.ha,c.f.p,c.f.m,c.f.h,c.hin,c.ha,s.f.p,s.f.m,s.f.h,s.hin,s.ha
0.0,1.0,-1.0,10.0,20.000000002,10.0,1.0,-3.0,20.0,10.000000008,20.0,1.0,2.0,99.0,17.4999999995875,17.4999999995875,1.0,2.0,1.0,17.500000002037503,17.500000002037503

--- equations-by-cardinality simulate --stop 0 ---
model M
  connector P Real v; flow Real i; end P;
  model T P p; P q; Real x; equation
    if cardinality(p) == 0 then p.v = 0; else p.i = 0.1; end if;
    x = cardinality(q); q.v = 1; end T;
  T a, b;
equation
  connect(a.q, b.p);
end M;

--- expect ---
time,a.p.v,a.p.i,a.q.v,a.q.i,a.x,b.p.v,b.p.i,b.q.v,b.q.i,b.x
0.0,0.0,0.0,1.0,-0.1,1.0,1.0,0.1,1.0,0.0,0.0

--- numbers-as-text simulate --stop 0 ---
model M
  parameter String s[:] = {String(1.5), String(1/3, significantDigits = 3), String(1e5), String(123456789.0), String(2.0), String(0.1, minimumLength = 8), String(0.1, minimumLength = 8, leftJustified = false),
    String(12, minimumLength = 4), String(3.14159, format = ".3e"), String(3.14159, format = "g"), String(255, format = "x"), String(7, format = "3d"), String(-1.0), String(1e-5), String(1e300*10), String(true, minimumLength = 6), String(12.5, format = "-10.2f") + "|", String(5, format="+d"), String(1234567), String(0.0), String(100000.0), String(1000000.0), "a\tb\\n\"q\"" };
  Boolean ok[:] = {s[1] == "1.5", s[2] == "0.333", s[3] == "100000", s[4] == "1.23457e+08", s[5] == "2", s[6] == "0.1     ", s[7] == "     0.1", s[8] == "12  ", s[9] == "3.142e+00", s[10] == "3.14159", s[11] == "ff", s[12] == "  7", s[13] == "-1", s[14] == "1e-05", s[15] == "1e+301", s[16] == "true  ", s[17] == "12.50     |", s[18] == "+5", s[19] == "1234567", s[20] == "0", s[21] == "100000", s[22] == "1e+06", s[23] == "a	b\\n\"q\""};
end M;

--- expect ---
time,ok[1],ok[2],ok[3],ok[4],ok[5],ok[6],ok[7],ok[8],ok[9],ok[10],ok[11],ok[12],ok[13],ok[14],ok[15],ok[16],ok[17],ok[18],ok[19],ok[20],ok[21],ok[22],ok[23]
0.0,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true

--- options-of-string-in-their-order simulate --stop 0 ---
model M
  parameter Integer d = 4;
  parameter String a = String(3.14159265, 3), b = String(3.14159265, 3, 8), c = String(7, 4), e = String(3.14159265, d), f = String(7, "5d"), g = String(1.5, 6, 8, false);
  function h input Real x; input Integer n; output String s; algorithm s := String(x, n) + String(x, significantDigits = n) + String(x, "5.1f"); end h;
  parameter String i = h(2.34567, 3);
  Boolean ok[:] = {a == "3.14", b == "3.14    ", c == "7   ", e == "3.142", f == "    7", g == "     1.5", i == "2.352.35  2.3"};
end M;

--- expect ---
time,d,ok[1],ok[2],ok[3],ok[4],ok[5],ok[6],ok[7]
0.0,4,true,true,true,true,true,true,true

--- text-that-changes-at-events simulate --stop 1 --intervals 1 ---
model M
  type E = enumeration(one, two);
  parameter Integer d = 3;
  Integer n = if time < 0.5 then 12 else 13;
  Boolean b = time < 0.5;
  E e = if b then E.one else E.two;
  String s1 = String(3.14159*(1+0*time), significantDigits = d);
  String s2 = String(e, minimumLength = 6) + "|";
  String s3 = String(b, minimumLength = 7, leftJustified = false);
  String s4 = String(n, minimumLength = 5, leftJustified = false);
  String s5 = String(2.5*(if b then 1 else 1), format = "8.3f");
  Boolean o1 = s1 == "3.14", o2 = s2 == "one   |", o3 = s3 == "   true", o4 = s4 == "   12", o5 = s5 == "   2.500";
end M;

--- expect ---
time,d,n,b,e,o1,o2,o3,o4,o5
0.0,3,12,true,1,true,true,true,true,true
0.5,3,12,true,1,true,true,true,true,true
0.5,3,13,false,2,true,false,false,false,true
1.0,3,13,false,2,true,false,false,false,true

--- derivatives-of-derivatives-of-functions simulate --stop 0 ---
model M
  function f input Real x; input Real y; output Real z; algorithm z := x^2*y + sin(y); end f;
  function fx = der(f, x);
  function fxy = der(f, x, y);
  function fxx = der(fx, x);
  Real a = fx(3, 2), b = fxy(3, 2), c = fxx(3, 2);
end M;

--- expect ---
time,a,b,c
0.0,12.0,6.0,4.0

--- functions-with-some-arguments-bound simulate --stop 0 ---
model M
  partial function Fn input Real x; output Real y; end Fn;
  function quad input Fn f; input Real a, b; input Integer n = 10; output Real s = 0; protected Real h = (b - a)/n; algorithm
    for i in 1:n loop s := s + h*f(a + (i - 0.5)*h); end for; end quad;
  function par extends Fn; input Real A = 1; input Real w; algorithm y := A*x + w; end par;
  function apply input Fn g; input Real v[:]; output Real r[size(v, 1)]; algorithm r := {g(vi) for vi in v}; end apply;
  Real a = quad(function par(A = 2, w = 1), 0, 1);
  Real b = quad(function par(w = 3), 0, 2, 4);
  Real c[3] = apply(function par(A = 10, w = 0), {1, 2, 3});
end M;

--- expect ---
time,a,b,c[1],c[2],c[3]
0.0,2.0,8.0,10.0,20.0,30.0

--- operators-in-an-algorithm-section simulate --stop 1 --intervals 1 ---
model M
  connector F Real p; flow Real m; stream Real h; end F;
  model Src F f; equation f.m = -1; f.h = 10; end Src;
  model Snk F f; Real a, b; Integer n; String s; Boolean i; Real d; Real sl; Boolean e, c; Integer k(start = 0); Real hm; Real sm;
  equation f.p = 1; f.h = 1;
  algorithm
    a := inStream(f.h); b := actualStream(f.h); n := cardinality(f); s := getInstanceName(); i := initial();
    d := delay(time, 0.5); sl := semiLinear(time - 2, 3, 4);
    e := edge(i); c := change(k); hm := homotopy(time, 2); sm := smooth(1, noEvent(if time > 1 then 1 else 2));
    when sample(0, 0.4) then k := pre(k) + 1; end when;
  end Snk;
  Src a; Snk s;
equation
  connect(a.f, s.f);
end M;

--- expect ---
time,a.f.p,a.f.m,a.f.h,s.f.p,s.f.m,s.f.h,s.a,s.b,s.n,s.i,s.d,s.sl,s.e,s.c,s.k,s.hm,s.sm
0.0,1.0,-1.0,10.0,1.0,1.0,1.0,10.0,10.0,1,false,0.0,-8.0,false,false,1,0.0,2.0
0.4,1.0,-1.0,10.0,1.0,1.0,1.0,10.0,10.0,1,false,0.0,-6.4,false,false,1,0.4,2.0
0.4,1.0,-1.0,10.0,1.0,1.0,1.0,10.0,10.0,1,false,0.0,-6.4,false,false,2,0.4,2.0
0.8,1.0,-1.0,10.0,1.0,1.0,1.0,10.0,10.0,1,false,0.30000000000000004,-4.8,false,false,2,0.8,2.0
0.8,1.0,-1.0,10.0,1.0,1.0,1.0,10.0,10.0,1,false,0.30000000000000004,-4.8,false,false,3,0.8,2.0
1.0,1.0,-1.0,10.0,1.0,1.0,1.0,10.0,10.0,1,false,0.5,-4.0,false,false,3,1.0,2.0

--- logical-operators-on-arrays simulate --stop 0 ---
model M
  parameter Boolean on[3] = {true, false, true};
  model A parameter Real k = 1; Real y = k; end A;
  A a[3](k = {1, 2, 3});
  Boolean c[3] = on and {true, true, false};
  Boolean d[3] = not on;
end M;

--- expect ---
time,on[1],on[2],on[3],a[1].y,a[2].y,a[3].y,c[1],c[2],c[3],d[1],d[2],d[3]
0.0,true,false,true,1.0,2.0,3.0,true,false,false,false,true,false

--- matrices-of-components-with-modifiers simulate --stop 0 ---
model M
  model A parameter Boolean use = true; parameter Real k = 1; Real y = k if use; Real z = 2*k; end A;
  parameter Integer n = 2;
  A a[n](use = {true, false}, k = {3, 4});
  A b[n, 2](k = {{i + 10*j for i in 1:2} for j in 1:n});
end M;

--- expect ---
time,n,a[1].y,a[1].z,a[2].z,"b[1,1].y","b[1,1].z","b[1,2].y","b[1,2].z","b[2,1].y","b[2,1].z","b[2,2].y","b[2,2].z"
0.0,2,3.0,6.0,8.0,11.0,22.0,12.0,24.0,21.0,42.0,22.0,44.0

--- records-as-parameters-modified-in-part simulate --stop 0 ---
model M
  record R Real a = 1; Real b[2] = {2, 3}; end R;
  model A parameter R r; parameter Real k[3] = {1, 2, 3}; Real y = r.a + r.b[2] + k[end]; end A;
  A x, y(r(a = 10)), z(r = R(b = {5, 6}), k = {0, 0, 7});
  A v[2](r(a = {100, 200}), k = {{1, 1, 1}, {2, 2, 2}});
end M;

--- expect ---
time,x.y,y.y,z.y,v[1].y,v[2].y
0.0,7.0,16.0,14.0,104.0,205.0

--- an-operator-record-with-all-kinds-of-operators simulate --stop 0 ---
operator record Cx
  Real re; Real im;
  encapsulated operator 'constructor'
    function fromReal import Cx; input Real re; input Real im = 0; output Cx r(re = re, im = im); algorithm end fromReal;
  end 'constructor';
  encapsulated operator function '0' import Cx; output Cx r; algorithm r := Cx(0, 0); end '0';
  encapsulated operator '-'
    function neg import Cx; input Cx a; output Cx r; algorithm r := Cx(-a.re, -a.im); end neg;
    function sub import Cx; input Cx a; input Cx b; output Cx r; algorithm r := Cx(a.re - b.re, a.im - b.im); end sub;
  end '-';
  encapsulated operator function '+' import Cx; input Cx a; input Cx b; output Cx r; algorithm r := Cx(a.re + b.re, a.im + b.im); end '+';
  encapsulated operator function '*' import Cx; input Cx a; input Cx b; output Cx r; algorithm r := Cx(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re); end '*';
  encapsulated operator function '==' import Cx; input Cx a; input Cx b; output Boolean r; algorithm r := a.re == b.re and a.im == b.im; end '==';
  encapsulated operator function 'String' import Cx; input Cx a; output String s; algorithm s := String(a.re) + "+" + String(a.im) + "i"; end 'String';
end Cx;
model M
  Cx a = Cx(1, 2), b = a*a + 3, c = -b - a, d[2] = {a, b}, s = sum(d);
  parameter Cx p = Cx(1, 2);
  Boolean e = p == Cx(1, 2), t = String(p) == "1+2i";
end M;

--- expect ---
time,a.re,a.im,b.re,b.im,c.re,c.im,d[1].re,d[1].im,d[2].re,d[2].im,s.re,s.im,e,t
0.0,1.0,2.0,0.0,4.0,-1.0,-6.0,1.0,2.0,0.0,4.0,1.0,6.0,true,true

--- types-blocks-and-nested-classes simulate --stop 0 ---
model M
  type Angle = Real(unit = "rad", min = -10) annotation (absoluteValue = false);
  type Vec = Angle[3];
  Vec v = {1, 2, 3};
  block Gain input Real u; output Real y; parameter Real k = 2; equation y = k*u; end Gain;
  Gain g[2](u = {3, 4}, each k = 5);
  block Twice = Gain(k = 2);
  Twice t(u = 7);
  model Outer model In Real z = 4; end In; In i; end Outer;
  Outer.In o;
  extends Base(b = 9);
  model Base parameter Real b = 1; Real bb = 2*b; end Base;
end M;

--- expect ---
time,v[1],v[2],v[3],g[1].u,g[1].y,g[2].u,g[2].y,t.u,t.y,o.z,b,bb
0.0,1.0,2.0,3.0,3.0,15.0,4.0,20.0,7.0,14.0,4.0,9.0,18.0

--- lapack-with-its-factors simulate --stop 0 ---
model M
  function solve input Real A[:, size(A, 1)]; input Real b[size(A, 1)]; output Real x[size(A, 1)] = b; output Integer info;
  protected Real Aw[size(A, 1), size(A, 1)] = A; Integer n = size(A, 1); Integer lda = max(1, size(A, 1)); Integer ipiv[size(A, 1)];
  external "FORTRAN 77" dgesv(n, 1, Aw, lda, ipiv, x, n, info) annotation (Library = "lapack"); end solve;
  Real x[2] = solve([2, 1; 1, 3], {3, 5});
end M;
--- expect ---
time,x[1],x[2]
0.0,0.8,1.4

--- any-enumeration-as-a-constraint simulate --stop 0 ---
model M
  type Signal = enumeration(low, middle, high);
  type Any = enumeration(:);
  type Pair = enumeration(off, on);
  model Switch
    replaceable type State = Pair constrainedby Any;
    parameter State s;
    Integer n = Integer(s);
    Integer count = size({e for e in State}, 1);
  end Switch;
  Switch a(s = Pair.on);
  Switch b(redeclare type State = Signal, s = Signal.high);
end M;

--- expect ---
time,a.n,a.count,b.n,b.count
0.0,2,2,3,3

--- a-unique-root simulate --stop 1 --intervals 1 ---
model M
  type Angle
    extends Real;
    function equalityConstraint
      input Real a, b;
      output Real residue[0];
    algorithm
      assert(abs(a - b) < 1e-6, "angles differ");
    end equalityConstraint;
  end Angle;
  connector Plug
    Angle phase;
    flow Real i;
  end Plug;
  model Source
    Plug p;
    Boolean root = Connections.isRoot(p.phase);
  equation
    Connections.potentialRoot(p.phase, 3);
    if Connections.isRoot(p.phase) then
      p.phase = 0.5;
    end if;
  end Source;
  model Line
    Plug a, b;
    Boolean nearer = Connections.rooted(a.phase);
  equation
    Connections.branch(a.phase, b.phase);
    a.phase = b.phase;
    a.i + b.i = 0;
    a.i = time;
  end Line;
  Source s, t;
  Line l;
equation
  connect(s.p, l.a);
  connect(l.b, t.p);
end M;
--- expect ---
time,s.p.phase,s.p.i,s.root,t.p.phase,t.p.i,t.root,l.a.phase,l.a.i,l.b.phase,l.b.i,l.nearer
0.0,0.5,0.0,true,0.5,0.0,false,0.5,0.0,0.5,0.0,true
1.0,0.5,-1.0,true,0.5,1.0,false,0.5,1.0,0.5,-1.0,true

--- shifted-clocks-intervals-and-first-ticks simulate --stop 1 --intervals 1 ---
model M
  Real u = sample(time, Clock(1, 5));
  Real s = shiftSample(u, 1, 2);
  Real iv = interval(u);
  Boolean f = firstTick(u);
  Integer n(start = 0) = previous(n) + (if f then 10 else 1);
  Real m = noClock(u) + 0*s;
equation
  assert(n >= 0 or u < 0, "n");
end M;
--- expect ---
time,u,s,iv,f,n,m
0.0,0.0,0.0,0.2,true,10,0.0
0.1,0.0,0.0,0.2,true,10,0.0
0.1,0.0,0.0,0.2,true,10,0.0
0.2,0.0,0.0,0.2,true,10,0.0
0.2,0.2,0.0,0.2,false,11,0.0
0.30000000000000004,0.2,0.0,0.2,false,11,0.0
0.30000000000000004,0.2,0.2,0.2,false,11,0.2
0.4,0.2,0.2,0.2,false,11,0.2
0.4,0.4,0.2,0.2,false,12,0.2
0.5,0.4,0.2,0.2,false,12,0.2
0.5,0.4,0.4,0.2,false,12,0.4
0.6000000000000001,0.4,0.4,0.2,false,12,0.4
0.6000000000000001,0.6000000000000001,0.4,0.2,false,13,0.4
0.7000000000000001,0.6000000000000001,0.4,0.2,false,13,0.4
0.7000000000000001,0.6000000000000001,0.6000000000000001,0.2,false,13,0.6000000000000001
0.8,0.6000000000000001,0.6000000000000001,0.2,false,13,0.6000000000000001
0.8,0.8,0.6000000000000001,0.2,false,14,0.6000000000000001
0.9,0.8,0.6000000000000001,0.2,false,14,0.6000000000000001
0.9,0.8,0.8,0.2,false,14,0.8
1.0,0.8,0.8,0.2,false,14,0.8
1.0,1.0,0.8,0.2,false,15,0.8

--- arrays-on-a-clock simulate --stop 0.5 --intervals 1 ---
model M
  Real u[2] = sample({time, 2*time}, Clock(0.25));
  Real v[2] = hold(u);
  Real w[2](each start = 0) = previous(w) + u;
end M;
--- expect ---
time,u[1],u[2],v[1],v[2],w[1],w[2]
0.0,0.0,0.0,0.0,0.0,0.0,0.0
0.25,0.0,0.0,0.0,0.0,0.0,0.0
0.25,0.25,0.5,0.25,0.5,0.25,0.5
0.5,0.25,0.5,0.25,0.5,0.25,0.5
0.5,0.5,1.0,0.5,1.0,0.75,1.5

--- branches-with-different-states simulate --stop 2 --intervals 4 ---
model M
  Real x(start = 0, fixed = true), y, z;
  Boolean closed = time >= 1;
equation
  if closed then
    x = 5;
    der(y) = 1;
  else
    der(x) = 1;
    y = 2*x;
  end if;
  z = x + y;
end M;
--- expect ---
time,x,y,z,closed
0.0,0.0,0.0,0.0,false
0.5,0.5,1.0,1.5,false
1.0,1.0,2.0,3.0,false
1.0,5.0,2.0,7.0,true
1.5,5.0,2.5,7.5,true
2.0,5.0,3.0,8.0,true
