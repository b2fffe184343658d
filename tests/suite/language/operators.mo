The built-in functions and operators of the specification (Modelica 3.6, sections 3.7 and 10.3), one by one: values, and what is refused.

--- numeric-functions simulate --stop 1 --intervals 1 ---
model M
  Real a = abs(-2.5);
  Integer b = abs(-3);
  Real c = sign(-0.1);
  Integer ci = integer(sign(-7));
  Real d = sqrt(2.25);
  Real e = div(-7, 2);
  Integer ei = div(-7, 2);
  Real f = mod(-7.5, 2);
  Integer fi = mod(-7, 3);
  Real g = rem(-7.5, 2);
  Integer gi = rem(-7,3);
  Real h = ceil(1.2);
  Real i = floor(-1.2);
  Integer j = integer(-1.2);
  Integer k = div(7,-2);
  Real l = atan2(-1, -1);
  Real m = log10(1000);
  Real n = log(exp(2));
  Real o = sinh(1) - (exp(1)-exp(-1))/2;
  Real p = tanh(0.5);
  Real q = asin(0.5);
  Real r = acos(0.5);
  Real s = atan(1);
  Real t = tan(0.3);
  Real u = cosh(1);
  Real v = mod(7.5, -2);
  Real w = 2^0.5;
  Real x = (-2)^3;
  Real y = -2^2;
end M;
--- expect ---
time,a,b,c,ci,d,e,ei,f,fi,g,gi,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y
0.0,2.5,3,-1.0,-1,1.5,-3.0,-3,0.5,2,-1.5,-1,2.0,-2.0,-2,-3,-2.356194490192345,3.0,2.0,0.0,0.46211715726000974,0.5235987755982989,1.0471975511965979,0.7853981633974483,0.30933624960962325,1.5430806348152437,-0.5,1.4142135623730951,-8.0,-4.0
1.0,2.5,3,-1.0,-1,1.5,-3.0,-3,0.5,2,-1.5,-1,2.0,-2.0,-2,-3,-2.356194490192345,3.0,2.0,0.0,0.46211715726000974,0.5235987755982989,1.0471975511965979,0.7853981633974483,0.30933624960962325,1.5430806348152437,-0.5,1.4142135623730951,-8.0,-4.0

--- string-conversion-and-comparison simulate --stop 1 --intervals 1 ---
model M
  type E = enumeration(one, two);
  Real z = time;
  Boolean t1 = "abc" < "abd", t2 = "a" == "a", t3 = "b" <> "a", t4="abc" >= "abd";
equation
  assert(String(3.14159265358979) == "3.14159", "a" + String(3.14159265358979));
  assert(String(3.14159265358979, significantDigits=3) == "3.14", "b");
  assert(String(42, minimumLength=6) == "42    ", "c");
  assert(String(42, minimumLength=6, leftJustified=false) == "    42", "d");
  assert(String(true) == "true", "e");
  assert(String(E.two) == "two", "f");
  assert(String(2.5, format="8.3f") == "   2.500", "g" + String(2.5, format="8.3f"));
  assert(String(17, format="05d") == "00017", "h" + String(17, format="05d"));
  assert(String(1e10) == "1e+10", "j " + String(1e10));
  assert(String(-5) == "-5", "k");
  assert(String(E.one, minimumLength=5) == "one  ", "l");
  assert(String(1e-7) == "1e-07" , "n " + String(1e-7));
  assert(String(false, minimumLength=7, leftJustified=false) == "  false", "p");
  assert(String(0.5*time, format=".2f") == String(0.5*time, format=".2f"), "q");
end M;
--- expect ---
time,z,t1,t2,t3,t4
0.0,0.0,true,true,true,false
1.0,1.0,true,true,true,false

--- array-functions simulate --stop 1 --intervals 1 ---
model M
  Real A[2,3] = [1,2,3;4,5,6];
  Integer n = ndims(A), s1 = size(A,1), s2 = size(A,2);
  Integer s[2] = size(A);
  Real sc = scalar([5]);
  Real v[3] = vector([1;2;3]);
  Real mm[3,1] = matrix({1,2,3});
  Real I[2,2] = identity(2);
  Real D[2,2] = diagonal({3,4});
  Real z[2] = zeros(2);
  Real o[2,1] = ones(2,1);
  Real f[2,2] = fill(7,2,2);
  Real l[5] = linspace(0,1,5);
  Real mn = min(A), mx = max(A), su = sum(A), pr = product(A);
  Real mn2 = min(1, time+2), mx2 = max(3, time);
  Real mi = min(i^2 for i in {-2,1,3}), ma = max(i for i in 1:4), si = sum(i for i in 1:10), pi = product(i for i in 1:4);
  Real T[3,2] = transpose(A);
  Real O[2,2] = outerProduct({1,2},{3,4});
  Real S[2,2] = symmetric([1,2;3,4]);
  Real c[3] = cross({1,0,0},{0,1,0});
  Real sk[3,3] = skew({1,2,3});
  Real ct[4,2] = cat(1, [1,2;3,4], [5,6;7,8]);
  Real ct2[2,4] = cat(2, [1,2;3,4],[5,6;7,8]);
  Real ar[2] = array(1,2);
  Real mi0 = min(fill(1.0, 0)), su0 = sum(zeros(0)), pr0 = product(zeros(0));
  Real pm[1,1,3,1] = promote(fill(2.0,1,1,3), 4);
end M;
--- expect ---
time,"A[1,1]","A[1,2]","A[1,3]","A[2,1]","A[2,2]","A[2,3]",n,s1,s2,s[1],s[2],sc,v[1],v[2],v[3],"mm[1,1]","mm[2,1]","mm[3,1]","I[1,1]","I[1,2]","I[2,1]","I[2,2]","D[1,1]","D[1,2]","D[2,1]","D[2,2]",z[1],z[2],"o[1,1]","o[2,1]","f[1,1]","f[1,2]","f[2,1]","f[2,2]",l[1],l[2],l[3],l[4],l[5],mn,mx,su,pr,mn2,mx2,mi,ma,si,pi,"T[1,1]","T[1,2]","T[2,1]","T[2,2]","T[3,1]","T[3,2]","O[1,1]","O[1,2]","O[2,1]","O[2,2]","S[1,1]","S[1,2]","S[2,1]","S[2,2]",c[1],c[2],c[3],"sk[1,1]","sk[1,2]","sk[1,3]","sk[2,1]","sk[2,2]","sk[2,3]","sk[3,1]","sk[3,2]","sk[3,3]","ct[1,1]","ct[1,2]","ct[2,1]","ct[2,2]","ct[3,1]","ct[3,2]","ct[4,1]","ct[4,2]","ct2[1,1]","ct2[1,2]","ct2[1,3]","ct2[1,4]","ct2[2,1]","ct2[2,2]","ct2[2,3]","ct2[2,4]",ar[1],ar[2],mi0,su0,pr0,"pm[1,1,1,1]","pm[1,1,2,1]","pm[1,1,3,1]"
0.0,1.0,2.0,3.0,4.0,5.0,6.0,2,2,3,2,3,5.0,1.0,2.0,3.0,1.0,2.0,3.0,1.0,0.0,0.0,1.0,3.0,0.0,0.0,4.0,0.0,0.0,1.0,1.0,7.0,7.0,7.0,7.0,0.0,0.25,0.5,0.75,1.0,1.0,6.0,21.0,720.0,1.0,3.0,1.0,4.0,55.0,24.0,1.0,4.0,2.0,5.0,3.0,6.0,3.0,4.0,6.0,8.0,1.0,2.0,2.0,4.0,0.0,0.0,1.0,0.0,-3.0,2.0,3.0,0.0,-1.0,-2.0,1.0,0.0,1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,1.0,2.0,5.0,6.0,3.0,4.0,7.0,8.0,1.0,2.0,1.7976931348623157e308,0.0,1.0,2.0,2.0,2.0
1.0,1.0,2.0,3.0,4.0,5.0,6.0,2,2,3,2,3,5.0,1.0,2.0,3.0,1.0,2.0,3.0,1.0,0.0,0.0,1.0,3.0,0.0,0.0,4.0,0.0,0.0,1.0,1.0,7.0,7.0,7.0,7.0,0.0,0.25,0.5,0.75,1.0,1.0,6.0,21.0,720.0,1.0,3.0,1.0,4.0,55.0,24.0,1.0,4.0,2.0,5.0,3.0,6.0,3.0,4.0,6.0,8.0,1.0,2.0,2.0,4.0,0.0,0.0,1.0,0.0,-3.0,2.0,3.0,0.0,-1.0,-2.0,1.0,0.0,1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,1.0,2.0,5.0,6.0,3.0,4.0,7.0,8.0,1.0,2.0,1.7976931348623157e308,0.0,1.0,2.0,2.0,2.0

--- array-expressions simulate --stop 1 --intervals 1 ---
model M
  Real a[3] = {1,2,3};
  Real b[3,3] = {{i+10*j for i in 1:3} for j in 1:3};
  Real c[2,3] = {i*j for i in 1:3, j in 1:2};
  Real d[2] = a[{1,3}];
  Real e[3] = b[2,:];
  Real f[2,2] = b[2:end, {1,end}];
  Real g = a[end-1];
  Real h[2] = a[1:2:3];
  Real k = a * a;
  Real l[3] = b * a;
  Real m[3] = a * b;
  Real n[3,3] = b * b;
  Real o[3] = a .* a;
  Real p[3] = a ./ 2;
  Real q[3] = 2 ./ a;
  Real r[3] = a .^ 2;
  Real s[3] = sin(a);
  Real t[2,4] = [a[1:2], b[1:2,:]];
  Real u[4] = cat(1, {9}, a);
  Real v[3] = -a + 2*a - a/2;
  Real w[2,2] = [1,1;0,1]^3;
  Boolean x[3] = {true,false,true};
  Boolean y[3] = not x;
  Real z[3] = a .+ 1;
  Real aa[3] = 1 .- a;
  Real ab[3] = if time < 5 then a else fill(0,3);
  Real ac[0];
  Real ad = sum(a[i]*b[i,i] for i in 1:3);
  Real ae = sum(a[i] for i);
  Real af[3]={a[i]^2 for i};
  Real ag[2,3] = {a, 2*a};
  Real ah[1,3] = [a[1], a[2], a[3]];
  Real ai = a[integer(2.5)];
  Real aj[:] = 0:0.25:1;
  Real ak[:] = 3:-1:1;
  Real al[:]=1:0;
  Real am[2,3,4] = fill(3.0, 2,3,4);
  Real an[3,4] = am[1];
  Real ao = am[1,2,3];
  Real ap[3] = mod({5,6,7}, 3);
  Real aq[2] = atan2({1,2},{3,4});
end M;
--- expect ---
time,a[1],a[2],a[3],"b[1,1]","b[1,2]","b[1,3]","b[2,1]","b[2,2]","b[2,3]","b[3,1]","b[3,2]","b[3,3]","c[1,1]","c[1,2]","c[1,3]","c[2,1]","c[2,2]","c[2,3]",d[1],d[2],e[1],e[2],e[3],"f[1,1]","f[1,2]","f[2,1]","f[2,2]",g,h[1],h[2],k,l[1],l[2],l[3],m[1],m[2],m[3],"n[1,1]","n[1,2]","n[1,3]","n[2,1]","n[2,2]","n[2,3]","n[3,1]","n[3,2]","n[3,3]",o[1],o[2],o[3],p[1],p[2],p[3],q[1],q[2],q[3],r[1],r[2],r[3],s[1],s[2],s[3],"t[1,1]","t[1,2]","t[1,3]","t[1,4]","t[2,1]","t[2,2]","t[2,3]","t[2,4]",u[1],u[2],u[3],u[4],v[1],v[2],v[3],"w[1,1]","w[1,2]","w[2,1]","w[2,2]",x[1],x[2],x[3],y[1],y[2],y[3],z[1],z[2],z[3],aa[1],aa[2],aa[3],ab[1],ab[2],ab[3],ad,ae,af[1],af[2],af[3],"ag[1,1]","ag[1,2]","ag[1,3]","ag[2,1]","ag[2,2]","ag[2,3]","ah[1,1]","ah[1,2]","ah[1,3]",ai,aj[1],aj[2],aj[3],aj[4],aj[5],ak[1],ak[2],ak[3],"am[1,1,1]","am[1,1,2]","am[1,1,3]","am[1,1,4]","am[1,2,1]","am[1,2,2]","am[1,2,3]","am[1,2,4]","am[1,3,1]","am[1,3,2]","am[1,3,3]","am[1,3,4]","am[2,1,1]","am[2,1,2]","am[2,1,3]","am[2,1,4]","am[2,2,1]","am[2,2,2]","am[2,2,3]","am[2,2,4]","am[2,3,1]","am[2,3,2]","am[2,3,3]","am[2,3,4]","an[1,1]","an[1,2]","an[1,3]","an[1,4]","an[2,1]","an[2,2]","an[2,3]","an[2,4]","an[3,1]","an[3,2]","an[3,3]","an[3,4]",ao,ap[1],ap[2],ap[3],aq[1],aq[2]
0.0,1.0,2.0,3.0,11.0,12.0,13.0,21.0,22.0,23.0,31.0,32.0,33.0,1.0,2.0,3.0,2.0,4.0,6.0,1.0,3.0,21.0,22.0,23.0,21.0,23.0,31.0,33.0,2.0,1.0,3.0,14.0,74.0,134.0,194.0,146.0,152.0,158.0,776.0,812.0,848.0,1406.0,1472.0,1538.0,2036.0,2132.0,2228.0,1.0,4.0,9.0,0.5,1.0,1.5,2.0,1.0,0.6666666666666666,1.0,4.0,9.0,0.8414709848078965,0.9092974268256817,0.1411200080598672,1.0,11.0,12.0,13.0,2.0,21.0,22.0,23.0,9.0,1.0,2.0,3.0,0.5,1.0,1.5,1.0,3.0,0.0,1.0,true,false,true,false,true,false,2.0,3.0,4.0,0.0,-1.0,-2.0,1.0,2.0,3.0,154.0,6.0,1.0,4.0,9.0,1.0,2.0,3.0,2.0,4.0,6.0,1.0,2.0,3.0,2.0,0.0,0.25,0.5,0.75,1.0,3.0,2.0,1.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,2.0,0.0,1.0,0.3217505543966422,0.4636476090008061
1.0,1.0,2.0,3.0,11.0,12.0,13.0,21.0,22.0,23.0,31.0,32.0,33.0,1.0,2.0,3.0,2.0,4.0,6.0,1.0,3.0,21.0,22.0,23.0,21.0,23.0,31.0,33.0,2.0,1.0,3.0,14.0,74.0,134.0,194.0,146.0,152.0,158.0,776.0,812.0,848.0,1406.0,1472.0,1538.0,2036.0,2132.0,2228.0,1.0,4.0,9.0,0.5,1.0,1.5,2.0,1.0,0.6666666666666666,1.0,4.0,9.0,0.8414709848078965,0.9092974268256817,0.1411200080598672,1.0,11.0,12.0,13.0,2.0,21.0,22.0,23.0,9.0,1.0,2.0,3.0,0.5,1.0,1.5,1.0,3.0,0.0,1.0,true,false,true,false,true,false,2.0,3.0,4.0,0.0,-1.0,-2.0,1.0,2.0,3.0,154.0,6.0,1.0,4.0,9.0,1.0,2.0,3.0,2.0,4.0,6.0,1.0,2.0,3.0,2.0,0.0,0.25,0.5,0.75,1.0,3.0,2.0,1.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,2.0,0.0,1.0,0.3217505543966422,0.4636476090008061

--- ranges simulate --stop 1 --intervals 1 ---
model M
  Real x[:] = 0:0.3:1;
  Integer n = size(x, 1);
  Real y[:] = 1.5:3.5;
  Integer e = size(3:1, 1);
end M;
--- expect ---
time,x[1],x[2],x[3],x[4],n,y[1],y[2],y[3],e
0.0,0.0,0.3,0.6,0.8999999999999999,4,1.5,2.5,3.5,0
1.0,0.0,0.3,0.6,0.8999999999999999,4,1.5,2.5,3.5,0

--- empty-arrays simulate --stop 1 --intervals 1 ---
model M
  Real a[0, 3];
  Real b[3] = sum({{1, 2, 3}, {4, 5, 6}}[i, :] for i in 1:2);
  Integer n = size(a, 2);
  Real c = sum(a);
  Real d[3, 0] = transpose(a);
end M;
--- expect ---
time,b[1],b[2],b[3],n,c
0.0,5.0,7.0,9.0,3,0.0
1.0,5.0,7.0,9.0,3,0.0

--- reductions simulate --stop 1 --intervals 1 ---
model M
  parameter Integer n=4;
  Real x[n]={i*time for i in 1:n};
  Real s = sum(x[i]^2 for i in 1:n);
  Real t = sum(x[i]*x[j] for i in 1:n, j in 1:n);
  Real u[2] = sum({x[i], 1} for i in 1:n);
  Real p = product(x[i] for i in 1:n);
  function f
    input Real x[:];
    output Real y;
  algorithm
    y := sum(x[i]*i for i in 1:size(x,1));
  end f;
  Real w = f(x);
  function g
    input Real x[:];
    output Real y[2];
  algorithm
    y := sum({x[i], i} for i in 1:size(x,1));
  end g;
  Real v[2] = g(x);
  Real mx = max(x[i] for i in 1:n);
end M;
--- expect ---
time,n,x[1],x[2],x[3],x[4],s,t,u[1],u[2],p,w,v[1],v[2],mx
0.0,4,0.0,0.0,0.0,0.0,0.0,0.0,0.0,4.0,0.0,0.0,0.0,10.0,0.0
1.0,4,1.0,2.0,3.0,4.0,30.0,100.0,10.0,4.0,24.0,30.0,10.0,10.0,4.0

--- der-of-an-array simulate --stop 1 --intervals 1 ---
model M
  Real x[2](each start=1, each fixed=true);
  Real y[2];
  parameter Real A[2,2]=[0,1;-1,0];
equation
  der(x)=A*x;
  y=der(x);
end M;
--- expect ---
time,x[1],x[2],y[1],y[2],"A[1,1]","A[1,2]","A[2,1]","A[2,2]"
0.0,1.0,1.0,1.0,-1.0,0.0,1.0,-1.0,0.0
1.0,1.3817731375851954,-0.30116839993777283,-0.30116839993777283,-1.3817731375851954,0.0,1.0,-1.0,0.0

--- der-of-a-der simulate --stop 1 --intervals 1 ---
model M
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), a;
equation
  v = der(x);
  a = der(v);
  a = -x;
end M;
--- expect ---
time,x,v,a
0.0,1.0,0.0,-1.0
1.0,0.5403021826654316,-0.8414707855577125,-0.5403021826654316

--- smooth-and-no-event simulate --stop 1 --intervals 1 ---
model M
  Real x = smooth(1, if time < 0.5 then 0 else (time-0.5)^2);
  Real y = noEvent(if time > 0.5 then 1 else 0);
  Real z[2] = noEvent({max(time,0.5), min(time,0.5)});
  Real w = smooth(0, max(time, 0.3));
end M;
--- expect ---
time,x,y,z[1],z[2],w
0.0,0.0,0.0,0.5,0.0,0.3
1.0,0.25,1.0,1.0,0.5,1.0

--- delay-of-arrays-and-with-a-maximum simulate --stop 1 --intervals 1 ---
model M
  Real x = delay(time, 0.25);
  Real y = delay(time^2, 0.1+0.1*time, 0.3);
  Real z[2] = delay({time, 2*time}, 0.5);
end M;
--- expect ---
time,x,y,z[1],z[2]
0.0,0.0,0.0,0.0,0.0
1.0,0.75,0.6400000000000001,0.5,1.0

--- semi-linear simulate --stop 1 --intervals 1 ---
model M
  Real x = semiLinear(time-0.5, 2, 3);
  Real y[2] = semiLinear({1,-1}, {2,2},{3,3});
end M;
--- expect ---
time,x,y[1],y[2]
0.0,-1.5,2.0,-3.0
0.5,0.0,2.0,-3.0
0.5,0.0,2.0,-3.0
1.0,1.0,2.0,-3.0

--- instance-name simulate --stop 1 --intervals 1 ---
model M
  model S
    Real z=1;
  equation
    assert(getInstanceName() == "M.s", getInstanceName());
  end S;
  S s;
  parameter String n = getInstanceName();
equation
  assert(n == "M", n);
end M;
--- expect ---
time,s.z
0.0,1.0
1.0,1.0

--- cardinality simulate --stop 1 --intervals 1 ---
model M
  connector P
    Real v;
    flow Real i;
  end P;
  P a,b,c;
  Integer n = cardinality(a), m = cardinality(c);
equation
  connect(a,b);
  a.v=1;
  c.v=2;
end M;
--- expect ---
time,a.v,a.i,b.v,b.i,c.v,c.i,n,m
0.0,1.0,0.0,1.0,-0.0,2.0,0.0,1,0
1.0,1.0,0.0,1.0,-0.0,2.0,0.0,1,0

--- terminal simulate --stop 1 --intervals 1 ---
model M
  Real x(start=0);
equation
  when terminal() then
    x = 5;
  end when;
end M;
--- expect ---
time,x
0.0,0.0
1.0,0.0
1.0,5.0

--- initial simulate --stop 1 --intervals 1 ---
model M
  discrete Real x;
  Real y = if initial() then 1 else 2;
equation
  when {initial(), time > 0.5} then
    x = pre(x) + 1;
  end when;
end M;
--- expect ---
time,x,y
0.0,1.0,2.0
0.5,1.0,2.0
0.5,2.0,2.0
1.0,2.0,2.0

--- edge-and-change simulate --stop 1 --intervals 1 ---
model M
  Boolean b = time > 0.5;
  Integer i(start=0,fixed=true), n(start=0,fixed=true);
  Boolean v[2] = {time > 0.3, time > 0.6};
  Integer k(start=0,fixed=true);
equation
  when edge(b) then
    i = pre(i)+1;
  end when;
  when change(b) then
    n = pre(n)+1;
  end when;
  when change(i) then
    k = pre(k) + 10;
  end when;
end M;
--- expect ---
time,b,i,n,v[1],v[2],k
0.0,false,0,0,false,false,0
0.3,false,0,0,false,false,0
0.3,false,0,0,true,false,0
0.5,false,0,0,true,false,0
0.5,true,1,1,true,false,10
0.6,true,1,1,true,false,10
0.6,true,1,1,true,true,10
1.0,true,1,1,true,true,10

--- sample-in-a-vector-of-conditions simulate --stop 1 --intervals 1 ---
model M
  Integer n(start=0,fixed=true);
equation
  when {sample(0,0.25), time>0.6} then
    n = pre(n)+1;
  end when;
end M;
--- expect ---
time,n
0.0,1
0.25,1
0.25,2
0.5,2
0.5,3
0.6,3
0.6,4
0.75,4
0.75,5
1.0,5
1.0,6

--- reinit-of-an-array simulate --stop 1 --intervals 1 ---
model M
  Real x[2](each start=1,each fixed=true);
equation
  der(x)={1,2};
  when time > 0.5 then
    reinit(x, {0,pre(x[2])});
  end when;
end M;
--- expect ---
time,x[1],x[2]
0.0,1.0,1.0
0.5,1.5000000000000004,2.0000000000000004
0.5,0.0,2.0000000000000004
1.0,0.4999999999999996,3.0

--- homotopy-with-named-arguments simulate --stop 1 --intervals 1 ---
model M
  Real x = homotopy(actual=time, simplified=0);
end M;
--- expect ---
time,x
0.0,0.0
1.0,1.0

--- spatial-distribution-of-an-array simulate --stop 2 --intervals 2 ---
model M
  Real x(start=0,fixed=true);
  Real o[2], q[2];
equation
  der(x)=1;
  (o, q) = spatialDistribution({time,2*time}, {0,0}, x, true, {0,1}, {{0,0},{0,0}});
end M;
--- expect ---
time,x,o[1],o[2],q[1],q[2]
0.0,0.0,0.0,0.0,0.0,0.0
1.0,1.0,1.0,2.0,0.0,0.0
2.0,2.0,2.0,4.0,1.0,2.0

--- spatial-distribution-in-an-algorithm simulate --stop 2 --intervals 2 ---
model M
  Real x(start=0,fixed=true);
  Real o, q;
equation
  der(x)=1;
  algorithm (o, q) := spatialDistribution(time, 0, x, true, {0,1}, {0,0});
end M;
--- expect ---
time,x,o,q
0.0,0.0,0.0,0.0
1.0,1.0,1.0,0.0
2.0,2.0,2.0,1.0

--- pre-of-a-continuous-variable error check ---
model M
  Real x = time;
  Real y = pre(x);
end M;
--- expect ---
exit: 3
error: pre(x): x is not discrete
--> model.mo:3:12

--- der-of-a-discrete-variable error check ---
model M
  discrete Real x;
equation
  when time > 0.5 then
    x = 1;
  end when;
  der(x) = 1;
end M;
--- expect ---
exit: 3
error: x changes at events only: it has no derivative
--> model.mo:7:3

--- der-of-an-integer error check ---
model M
  Integer n = 1;
  Real y = der(n);
end M;
--- expect ---
exit: 3
error: der needs a Real, not Integer
--> model.mo:3:12

--- reinit-outside-of-when error check ---
model M
  Real x(start=0,fixed=true);
equation
  der(x)=1;
  reinit(x, 1);
end M;
--- expect ---
exit: 3
error: reinit can only stand in a when-equation
--> model.mo:5:3

--- sample-with-a-negative-interval error simulate --stop 1 ---
model M
  Integer n(start=0,fixed=true);
equation
  when sample(0, -1) then
    n = pre(n)+1;
  end when;
end M;
--- expect ---
exit: 5
error: sample(0, -1): the interval must be positive
--> model.mo:4:8

--- cross-of-two-elements error check ---
model M
  Real z[3] = cross({1,2},{1,2});
end M;
--- expect ---
exit: 3
error: cross needs two vectors of three elements
--> model.mo:2:15

--- transpose-of-a-vector error check ---
model M
  Real w[1,2] = transpose({1,2});
end M;
--- expect ---
exit: 3
error: Integer[2] cannot be transposed
--> model.mo:2:17

--- size-of-a-dimension-that-is-not-there error check ---
model M
  Integer v = size({1,2},3);
end M;
--- expect ---
exit: 3
error: Integer[2] has no dimension 3
--> model.mo:2:15

--- matrix-times-vector-that-does-not-fit error check ---
model M
  Real v[2] = identity(2)*{1,2,3};
end M;
--- expect ---
exit: 3
error: the shapes [2, 2] and [3] cannot be multiplied
--> model.mo:2:15

--- scalar-of-a-vector error check ---
model M
  Real v = scalar({1,2});
end M;
--- expect ---
exit: 3
error: Integer[2] is not a single element
--> model.mo:2:12

--- cat-of-different-ranks error check ---
model M
  Real v[3] = cat(1, {1,2}, [3]);
end M;
--- expect ---
exit: 3
error: the shapes [2] and [1, 1] do not fit together
--> model.mo:2:15

--- diagonal-of-a-matrix error check ---
model M
  Real v[2,2] = diagonal([1,2;3,4]);
end M;
--- expect ---
exit: 3
error: diagonal needs a vector, not Integer[2, 2]
--> model.mo:2:17

--- symmetric-of-a-rectangle error check ---
model M
  Real v[2,2] = symmetric([1,2,3;3,4,5]);
end M;
--- expect ---
exit: 3
error: symmetric needs a square matrix, not Integer[2, 3]
--> model.mo:2:17

--- skew-of-two-elements error check ---
model M
  Real v[2,2] = skew({1,2});
end M;
--- expect ---
exit: 3
error: skew needs a vector of three elements
--> model.mo:2:17

--- edge-of-a-real error check ---
model M
  Boolean b = edge(1.0);
end M;
--- expect ---
exit: 3
error: edge needs a Boolean, not Real
--> model.mo:2:15

--- change-of-a-continuous-variable error check ---
model M
  Boolean b = change(time);
end M;
--- expect ---
exit: 3
error: b may change only at events, but this equation changes it continuously
--> model.mo:2:15

--- homotopy-of-one-argument error check ---
model M
  Real x = homotopy(1);
end M;
--- expect ---
exit: 3
error: homotopy needs two arguments
--> model.mo:2:12

--- semi-linear-of-two-arguments error check ---
model M
  Real x = semiLinear(1,2);
end M;
--- expect ---
exit: 3
error: semiLinear needs three arguments
--> model.mo:2:12

--- smooth-of-one-argument error check ---
model M
  Real x = smooth(time);
end M;
--- expect ---
exit: 3
error: smooth needs two arguments
--> model.mo:2:12

--- in-stream-of-a-potential error check ---
model M
  connector P
    Real h;
    flow Real f;
  end P;
  P p;
  Real x = inStream(p.h);
equation
  p.h=1;
end M;
--- expect ---
exit: 3
error: inStream needs a stream variable; p.h is none
--> model.mo:7:12

--- string-of-nothing error check ---
model M
  String s = String();
end M;
--- expect ---
exit: 3
error: String needs an argument
--> model.mo:2:14

--- string-as-a-real error check ---
model M
  Real x = String(1);
end M;
--- expect ---
exit: 3
error: x is of type Real, but the value is String
--> model.mo:2:12

--- subscript-zero error check ---
model M
  Real x[3] = {1, 2, 3};
  Real y = x[0];
end M;
--- expect ---
exit: 3
error: the index 0 is outside 1:3
--> model.mo:3:14

--- vector-plus-scalar error check ---
model M
  Real a[2] = {1, 2} .* {3, 4} + {1, 1};
  Real b[2] = 2*{1, 2};
  Real c[2] = {1, 2} + 1;
end M;
--- expect ---
exit: 3
error: Integer[2] and Integer have different shapes
--> model.mo:4:15

--- matrices simulate --stop 1 --intervals 1 ---
model M
  Real A[2,2] = [1, 2; 3, 4];
  Real b[2] = A*{1, 1};
  Real c = {1, 2}*{3, 4};
  Real D[2,2] = A*A - A;
  Real e[2] = {1, 1}*A;
  Real F[2,2] = -A;
  Real G[2,2] = A/2;
  Real H[2,4] = [A, A];
  Real J[4,2] = [A; A];
  Real k[2] = A[:, 1];
  Real l[1,2] = A[2:2, :];
end M;
--- expect ---
time,"A[1,1]","A[1,2]","A[2,1]","A[2,2]",b[1],b[2],c,"D[1,1]","D[1,2]","D[2,1]","D[2,2]",e[1],e[2],"F[1,1]","F[1,2]","F[2,1]","F[2,2]","G[1,1]","G[1,2]","G[2,1]","G[2,2]","H[1,1]","H[1,2]","H[1,3]","H[1,4]","H[2,1]","H[2,2]","H[2,3]","H[2,4]","J[1,1]","J[1,2]","J[2,1]","J[2,2]","J[3,1]","J[3,2]","J[4,1]","J[4,2]",k[1],k[2],"l[1,1]","l[1,2]"
0.0,1.0,2.0,3.0,4.0,3.0,7.0,11.0,6.0,8.0,12.0,18.0,4.0,6.0,-1.0,-2.0,-3.0,-4.0,0.5,1.0,1.5,2.0,1.0,2.0,1.0,2.0,3.0,4.0,3.0,4.0,1.0,2.0,3.0,4.0,1.0,2.0,3.0,4.0,1.0,3.0,3.0,4.0
1.0,1.0,2.0,3.0,4.0,3.0,7.0,11.0,6.0,8.0,12.0,18.0,4.0,6.0,-1.0,-2.0,-3.0,-4.0,0.5,1.0,1.5,2.0,1.0,2.0,1.0,2.0,3.0,4.0,3.0,4.0,1.0,2.0,3.0,4.0,1.0,2.0,3.0,4.0,1.0,3.0,3.0,4.0
