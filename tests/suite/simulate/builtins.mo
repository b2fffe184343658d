Built-in functions and composition; the values can be computed by hand.

--- scalar-functions simulate --stop 1 --intervals 1 ---
type E
  = enumeration(a, b, c);
model Scalars
  Real a = abs(-3.5);
  Real b = sign(-2);
  Real c = sqrt(16);
  Integer d = div(7, 2);
  Real e = div(-7.5, 2);
  Real f = mod(-7.5, 2);
  Real g = rem(-7.5, 2);
  Real h = ceil(2.1);
  Real i = floor(-2.1);
  Integer j = integer(3.9);
  Real k = atan2(1, 1);
  Real l = log10(1000);
  Real m = min(3, 4) + max({1, 7, 2});
  Real n = sum({1, 2, 3}) + product({2, 3, 4});
  Real o = max(ii^2 for ii in {1, -5, 3});
  Real p = sum(ii*jj for ii in 1:3, jj in 1:2);
  Integer q = Integer(E.b);
  Real r = sinh(1)^2 - cosh(1)^2;
  Real s = smooth(0, noEvent(if time > 0 then 1 else 2));
  Boolean t = E.a < E.c;
  E u = E.c;
  Integer v = size({{1,2,3},{4,5,6}}, 2);
  Integer w = ndims({{1,2},{3,4}});
  Real x = exp(log(3));
  Real y = semiLinear(time - 0.5, 2, 3);
  Real z = homotopy(actual = 4, simplified = 5);
end Scalars;
--- expect ---
time,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z
0.0,3.5,-1.0,4.0,3,-3.0,0.5,-1.5,3.0,-3.0,3,0.7853981633974483,3.0,10.0,30.0,25.0,18.0,2,-1.0000000000000002,2.0,true,3,3,2,3.0000000000000004,-1.5,4.0
0.5,3.5,-1.0,4.0,3,-3.0,0.5,-1.5,3.0,-3.0,3,0.7853981633974483,3.0,10.0,30.0,25.0,18.0,2,-1.0000000000000002,1.0,true,3,3,2,3.0000000000000004,0.0,4.0
0.5,3.5,-1.0,4.0,3,-3.0,0.5,-1.5,3.0,-3.0,3,0.7853981633974483,3.0,10.0,30.0,25.0,18.0,2,-1.0000000000000002,1.0,true,3,3,2,3.0000000000000004,0.0,4.0
1.0,3.5,-1.0,4.0,3,-3.0,0.5,-1.5,3.0,-3.0,3,0.7853981633974483,3.0,10.0,30.0,25.0,18.0,2,-1.0000000000000002,1.0,true,3,3,2,3.0000000000000004,1.0,4.0

--- array-functions simulate --stop 1 --intervals 1 ---
model Arrays
  parameter Real A[2,3] = {{1,2,3},{4,5,6}};
  Real tr[3,2] = transpose(A);
  Real id[2,2] = identity(2);
  Real dg[2,2] = diagonal({1,2});
  Real z[2] = zeros(2);
  Real o[1,2] = ones(1,2);
  Real fl[2] = fill(7.5, 2);
  Real ls[5] = linspace(0, 1, 5);
  Real op[2,2] = outerProduct({1,2},{3,4});
  Real sy[2,2] = symmetric({{1,2},{3,4}});
  Real cr[3] = cross({1,0,0},{0,1,0});
  Real sk[3,3] = skew({1,2,3});
  Real ct[2,4] = cat(2, {{1,2},{3,4}}, {{5,6},{7,8}});
  Real c1[4] = cat(1, {1,2}, {3,4});
  Real sc = scalar({{{5}}});
  Real ve[3] = vector({{1},{2},{3}});
  Real ma[2,1] = matrix({1,2});
  Real pr[2,1,1] = promote({1,2}, 3);
  Real cp[2,2] = [1, 2; 3, 4];
  Real cc[2,3] = [{1,2}, {{3,4},{5,6}}];
  Real comp[3] = {i^2 for i in 1:3};
  Real comp2[2,3] = {i + 10*j for i in 1:3, j in 1:2};
  Real sl[2] = A[:, 2];
  Real se[2] = A[2, {1, 3}];
  Real en = A[end, end];
  Real rg[3] = 1:0.5:2;
  Real em = A[1, 2:end]*{1, 1};
  Real mp[2,2] = {{1,1},{0,1}}^3;
  Real ew[2] = {1,2} .* {3,4} + {1,2} ./ {2,4} - {1,2} .^ 2;
  Real mn = min(A);
  Real mx = max(A);
  Integer sz[2] = size(A);
  Real arr[2] = array(1, 2);
  Real neg[2] = -{1, 2};
end Arrays;
--- expect ---
time,"A[1,1]","A[1,2]","A[1,3]","A[2,1]","A[2,2]","A[2,3]","tr[1,1]","tr[1,2]","tr[2,1]","tr[2,2]","tr[3,1]","tr[3,2]","id[1,1]","id[1,2]","id[2,1]","id[2,2]","dg[1,1]","dg[1,2]","dg[2,1]","dg[2,2]",z[1],z[2],"o[1,1]","o[1,2]",fl[1],fl[2],ls[1],ls[2],ls[3],ls[4],ls[5],"op[1,1]","op[1,2]","op[2,1]","op[2,2]","sy[1,1]","sy[1,2]","sy[2,1]","sy[2,2]",cr[1],cr[2],cr[3],"sk[1,1]","sk[1,2]","sk[1,3]","sk[2,1]","sk[2,2]","sk[2,3]","sk[3,1]","sk[3,2]","sk[3,3]","ct[1,1]","ct[1,2]","ct[1,3]","ct[1,4]","ct[2,1]","ct[2,2]","ct[2,3]","ct[2,4]",c1[1],c1[2],c1[3],c1[4],sc,ve[1],ve[2],ve[3],"ma[1,1]","ma[2,1]","pr[1,1,1]","pr[2,1,1]","cp[1,1]","cp[1,2]","cp[2,1]","cp[2,2]","cc[1,1]","cc[1,2]","cc[1,3]","cc[2,1]","cc[2,2]","cc[2,3]",comp[1],comp[2],comp[3],"comp2[1,1]","comp2[1,2]","comp2[1,3]","comp2[2,1]","comp2[2,2]","comp2[2,3]",sl[1],sl[2],se[1],se[2],en,rg[1],rg[2],rg[3],em,"mp[1,1]","mp[1,2]","mp[2,1]","mp[2,2]",ew[1],ew[2],mn,mx,sz[1],sz[2],arr[1],arr[2],neg[1],neg[2]
0.0,1.0,2.0,3.0,4.0,5.0,6.0,1.0,4.0,2.0,5.0,3.0,6.0,1.0,0.0,0.0,1.0,1.0,0.0,0.0,2.0,0.0,0.0,1.0,1.0,7.5,7.5,0.0,0.25,0.5,0.75,1.0,3.0,4.0,6.0,8.0,1.0,2.0,2.0,4.0,0.0,0.0,1.0,0.0,-3.0,2.0,3.0,0.0,-1.0,-2.0,1.0,0.0,1.0,2.0,5.0,6.0,3.0,4.0,7.0,8.0,1.0,2.0,3.0,4.0,5.0,1.0,2.0,3.0,1.0,2.0,1.0,2.0,1.0,2.0,3.0,4.0,1.0,3.0,4.0,2.0,5.0,6.0,1.0,4.0,9.0,11.0,12.0,13.0,21.0,22.0,23.0,2.0,5.0,4.0,6.0,6.0,1.0,1.5,2.0,5.0,1.0,3.0,0.0,1.0,2.5,4.5,1.0,6.0,2,3,1.0,2.0,-1.0,-2.0
1.0,1.0,2.0,3.0,4.0,5.0,6.0,1.0,4.0,2.0,5.0,3.0,6.0,1.0,0.0,0.0,1.0,1.0,0.0,0.0,2.0,0.0,0.0,1.0,1.0,7.5,7.5,0.0,0.25,0.5,0.75,1.0,3.0,4.0,6.0,8.0,1.0,2.0,2.0,4.0,0.0,0.0,1.0,0.0,-3.0,2.0,3.0,0.0,-1.0,-2.0,1.0,0.0,1.0,2.0,5.0,6.0,3.0,4.0,7.0,8.0,1.0,2.0,3.0,4.0,5.0,1.0,2.0,3.0,1.0,2.0,1.0,2.0,1.0,2.0,3.0,4.0,1.0,3.0,4.0,2.0,5.0,6.0,1.0,4.0,9.0,11.0,12.0,13.0,21.0,22.0,23.0,2.0,5.0,4.0,6.0,6.0,1.0,1.5,2.0,5.0,1.0,3.0,0.0,1.0,2.5,4.5,1.0,6.0,2,3,1.0,2.0,-1.0,-2.0

--- records-and-constructors simulate --stop 1 --intervals 1 ---
record R
  Real a; Integer n = 2; Real v[2];
end R;
function mk
  input Real a; output R r;
algorithm
  r.a := a; r.n := 3; r.v := {a, 2*a};
end mk;
model Records
  R r = R(1, 4, {5, 6});
  R s = mk(time + 1);
  R t(a = 2, v = {1, 2});
  Real x = s.v[2] + r.n;
  R q[2] = {R(1, 2, {3, 4}), mk(7)};
  Real y = sum(q[:].a);
  Real z[2] = q.v[1];
end Records;
--- expect ---
time,r.a,r.n,r.v[1],r.v[2],s.a,s.n,s.v[1],s.v[2],t.a,t.n,t.v[1],t.v[2],x,q[1].a,q[1].n,q[1].v[1],q[1].v[2],q[2].a,q[2].n,q[2].v[1],q[2].v[2],y,z[1],z[2]
0.0,1.0,4,5.0,6.0,1.0,3,1.0,2.0,2.0,2,1.0,2.0,6.0,1.0,2,3.0,4.0,7.0,3,7.0,14.0,8.0,3.0,7.0
1.0,1.0,4,5.0,6.0,2.0,3,2.0,4.0,2.0,2,1.0,2.0,8.0,1.0,2,3.0,4.0,7.0,3,7.0,14.0,8.0,3.0,7.0

--- functions-with-loops-recursion-and-several-results simulate --stop 1 --intervals 1 ---
function fact
  input Integer n; output Integer f;
algorithm
  f := if n <= 1 then 1 else n*fact(n - 1);
end fact;
function loops
  input Integer n; output Real s; output Integer k;
protected
  Integer i = 0;
algorithm
  s := 0; while true loop i := i + 1; if i == 3 then continue_(); end if; if i > n then break; end if; s := s + i; end while; k := i;
end loops;
function continue_
  algorithm end continue_;
function early
  input Real x; output Real y;
algorithm
  y := 1; if x > 0 then return; end if; y := 2;
end early;
function multi
  input Real x[:]; output Real mean; output Real var; output Real sorted[size(x, 1)];
protected
  Real t;
algorithm
  mean := sum(x)/size(x, 1); var := sum((xi - mean)^2 for xi in x)/size(x, 1); sorted := x; for i in 1:size(x, 1) loop for j in 1:size(x, 1) - i loop if sorted[j] > sorted[j+1] then t := sorted[j]; sorted[j] := sorted[j+1]; sorted[j+1] := t; end if; end for; end for;
end multi;
model Functions
  parameter Integer f = fact(5);
  Real e1 = early(1), e2 = early(-1);
  Real m, v, so[3];
  Real s;
  Integer k;
equation
  (m, v, so) = multi({3, 1, 2}); (s, k) = loops(4);
end Functions;
--- expect ---
time,f,e1,e2,m,v,so[1],so[2],so[3],s,k
0.0,120,1.0,2.0,2.0,0.6666666666666666,1.0,2.0,3.0,10.0,5
1.0,120,1.0,2.0,2.0,0.6666666666666666,1.0,2.0,3.0,10.0,5

--- enumerations-as-dimensions simulate --stop 1 --intervals 1 ---
type E
  = enumeration(a, b, c);
model EnumArray
  parameter Real a[E] = {1, 2, 3}; Real x = a[E.b]; Real y[E]; Boolean c[Boolean] = {true, false};
equation
  for e in E loop y[e] = a[e]*2; end for;
end EnumArray;
--- expect ---
time,a[1],a[2],a[3],x,y[1],y[2],y[3],c[1],c[2]
0.0,1.0,2.0,3.0,2.0,2.0,4.0,6.0,true,false
1.0,1.0,2.0,3.0,2.0,2.0,4.0,6.0,true,false

--- class-redeclared-with-modifier simulate --stop 1 --intervals 1 ---
model Base
  replaceable model Part = Pa; Part p; replaceable Pa q constrainedby Pi;
end Base;
partial model
  Pi Real x;
end Pi;
model Pa
  extends Pi;
equation
  x = 1;
end Pa;
model Pb
  extends Pi; parameter Real k = 2;
equation
  x = k*time;
end Pb;
model Redecl
  extends Base(redeclare model Part = Pb(k = 5), redeclare Pb q(k = 7));
end Redecl;
--- expect ---
time,p.x,q.x
0.0,0.0,0.0
1.0,5.0,7.0

--- arrays-of-components simulate --stop 1 --intervals 1 ---
partial model
  Pi Real x;
end Pi;
model Pb
  extends Pi; parameter Real k = 2;
equation
  x = k*time;
end Pb;
model CompArr
  Pb p[3](k = {1, 2, 3}); Pb q[2](each k = 4); Real s = sum(p.x);
end CompArr;
--- expect ---
time,p[1].x,p[2].x,p[3].x,q[1].x,q[2].x,s
0.0,0.0,0.0,0.0,0.0,0.0,0.0
1.0,1.0,2.0,3.0,4.0,4.0,6.0

--- conditional-components simulate --stop 1 --intervals 1 ---
partial model
  Pi Real x;
end Pi;
model Pa
  extends Pi;
equation
  x = 1;
end Pa;
model Pb
  extends Pi; parameter Real k = 2;
equation
  x = k*time;
end Pb;
model Cond
  parameter Boolean on = false; Pa a if on; Pb b if not on;
end Cond;
--- expect ---
time,on,b.x
0.0,false,0.0
1.0,false,2.0

--- inner-outer simulate --stop 1 --intervals 1 ---
model InnerOuter
  inner parameter Real T0 = 300; model C outer parameter Real T0; Real x = T0*time; end C; C c;
end InnerOuter;
--- expect ---
time,T0,c.x
0.0,300.0,0.0
1.0,300.0,300.0

--- algorithm-with-break simulate --stop 1 --intervals 1 ---
model AlgSec
  Real x, y; Integer n;
algorithm
  x := time; n := 0; for i in 1:3 loop n := n + i; if n > 4 then break; end if; end for; y := x + n;
end AlgSec;
--- expect ---
time,x,y,n
0.0,0.0,6.0,6
1.0,1.0,7.0,6

--- initial-algorithm simulate --stop 1 --intervals 1 ---
model InitAlg
  parameter Real p(fixed = false); Real x(start = 1, fixed = true);
initial algorithm
  p := 3;
equation
  der(x) = p;
end InitAlg;
--- expect ---
time,p,x
0.0,3.0,1.0
1.0,3.0,4.000000000000001

--- modifiers-through-two-levels simulate --stop 1 --intervals 1 ---
model Nested
  model In parameter Real k; Real x = k; end In; model Mid In i(k = kk); parameter Real kk = 1; end Mid; Mid m(kk = 4); Mid n(i(k = 9));
end Nested;
--- expect ---
time,m.i.x,n.i.x
0.0,4.0,9.0
1.0,4.0,9.0

--- class-extends simulate --stop 1 --intervals 1 ---
model Base0
  replaceable model Inner0 Real y = 2; end Inner0;
end Base0;
model ClassExt
  extends Base0; redeclare model extends Inner0 Real z = y + 1; end Inner0; Inner0 ii;
end ClassExt;
--- expect ---
time,ii.y,ii.z
0.0,2.0,3.0
1.0,2.0,3.0

--- quoted-names simulate --stop 1 --intervals 1 ---
model Quoted
  Real 'a b' = 1; Real 'x.y' = 'a b' + 1;
end Quoted;
--- expect ---
time,'a b','x.y'
0.0,1.0,2.0
1.0,1.0,2.0

--- strings simulate --stop 1 --intervals 1 ---
type E = enumeration(a, b, c);
model M
  parameter String s = String(3.14159, significantDigits = 3) + "|" + String(42, minimumLength = 5) + "|"
    + String(42, minimumLength = 5, leftJustified = false) + "|" + String(true) + "|" + String(E.b) + "|"
    + String(2.5, format = "6.2f") + "|" + getInstanceName();
  Boolean right = s == "3.14|42   |   42|true|b|  2.50|M";
end M;
--- expect ---
time,right
0.0,true
1.0,true

--- varying-texts-have-an-order simulate --stop 1 --intervals 2 ---
model M
  String a = if time > 0.5 then "b" else "a";
  Boolean l = a < "aa", g = a > "aa", e = a >= "b", n = a <> "a";
end M;
--- expect ---
time,l,g,e,n
0.0,true,false,false,false
0.5,true,false,false,false
0.5,false,true,true,true
1.0,false,true,true,true

--- delayed-values-at-the-start-are-what-is-delayed simulate --stop 1 --intervals 1 ---
// delay(e, d) is e(start) up to start + d: x = 1 + 0.9 x, p = 7, r = 2.
model M
  Real x, y;
  parameter Real p(fixed = false);
  Real q = p + time;
  Real z = delay(2*delay(q, 0.2), 0.1);
  Real r(start = 1), s;
initial equation
  z = 14;
  r + 2*s = 6;
equation
  x = 1 + 0.9*y;
  y = delay(x, 0.2);
  der(r) = 0;
  s = delay(r, 0.2);
end M;
--- expect ---
time,x,y,p,q,z,r,s
0.0,10.000000000000002,10.000000000000002,7.0,7.0,14.0,2.0,2.0
1.0,10.000000000000002,10.000000000000002,7.0,8.0,15.4,2.0,2.0

--- a-lag-that-is-zero-but-for-rounding simulate --stop 1.2 --intervals 1 ---
model M
  Real y = delay(sin(6*time), mod(time, 0.4), 1);
end M;
--- expect ---
time,y
0.0,0.0
0.4,0.0
0.4,0.6754631805511506
0.8,0.6754631805511506
0.8,-0.9961646088358406
1.2,-0.9961646088358406
1.2,0.7936678638491534
