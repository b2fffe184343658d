Records, enumerations, overloaded operators, types (Modelica 3.6, chapters 4, 12.6 and 14).

--- records simulate --stop 1 --intervals 1 ---
model M
  record A
    Real x = 1;
    Real y[2] = {2,3};
  end A;
  record B
    extends A(x=5);
    Integer n = 2;
  end B;
  A a;
  A b(x=7);
  B c;
  A d = A(1,{2,time});
  A e = A(y={0,0});
  A f[2] = {A(1,{1,1}), A(2,{2,2})};
  Real g[2] = f.x;
  Real h[2,2] = f.y;
  A k = if time > 0.5 then a else b;
  B l = B(n=3);
  function fn
    input A a;
    output A b;
  algorithm
    b := a;
    b.x := a.x * 2;
  end fn;
  A m = fn(c2);
  A c2(x=10);
end M;
--- expect ---
time,a.x,a.y[1],a.y[2],b.x,b.y[1],b.y[2],c.x,c.y[1],c.y[2],c.n,d.x,d.y[1],d.y[2],e.x,e.y[1],e.y[2],f[1].x,f[1].y[1],f[1].y[2],f[2].x,f[2].y[1],f[2].y[2],g[1],g[2],"h[1,1]","h[1,2]","h[2,1]","h[2,2]",k.x,k.y[1],k.y[2],l.x,l.y[1],l.y[2],l.n,m.x,m.y[1],m.y[2],c2.x,c2.y[1],c2.y[2]
0.0,1.0,2.0,3.0,7.0,2.0,3.0,5.0,2.0,3.0,2,1.0,2.0,0.0,1.0,0.0,0.0,1.0,1.0,1.0,2.0,2.0,2.0,1.0,2.0,1.0,1.0,2.0,2.0,7.0,2.0,3.0,5.0,2.0,3.0,3,20.0,2.0,3.0,10.0,2.0,3.0
0.5,1.0,2.0,3.0,7.0,2.0,3.0,5.0,2.0,3.0,2,1.0,2.0,0.5,1.0,0.0,0.0,1.0,1.0,1.0,2.0,2.0,2.0,1.0,2.0,1.0,1.0,2.0,2.0,7.0,2.0,3.0,5.0,2.0,3.0,3,20.0,2.0,3.0,10.0,2.0,3.0
0.5,1.0,2.0,3.0,7.0,2.0,3.0,5.0,2.0,3.0,2,1.0,2.0,0.5,1.0,0.0,0.0,1.0,1.0,1.0,2.0,2.0,2.0,1.0,2.0,1.0,1.0,2.0,2.0,1.0,2.0,3.0,5.0,2.0,3.0,3,20.0,2.0,3.0,10.0,2.0,3.0
1.0,1.0,2.0,3.0,7.0,2.0,3.0,5.0,2.0,3.0,2,1.0,2.0,1.0,1.0,0.0,0.0,1.0,1.0,1.0,2.0,2.0,2.0,1.0,2.0,1.0,1.0,2.0,2.0,1.0,2.0,3.0,5.0,2.0,3.0,3,20.0,2.0,3.0,10.0,2.0,3.0

--- enumerations simulate --stop 1 --intervals 1 ---
model M
  type E = enumeration(a, b, c);
  E e = if time < 0.5 then E.a else E.c;
  Real t[E] = {1,2,3};
  Real u = t[e];
  Integer k = Integer(e);
  E f = E(2);
  Boolean le = E.a < E.b;
  E g = max(E.a, E.b);
  Real s = sum(t[i] for i in E);
  Real s2 = sum(t[i] for i in E.b:E.c);
  Real w[E];
  Boolean bb[Boolean] = {false,true};
  Real x2[Boolean]={3,4};
  Real y2 = x2[time > 0.5];
equation
  for i in E loop
    w[i] = Integer(i);
  end for;
end M;
--- expect ---
time,e,t[1],t[2],t[3],u,k,f,le,g,s,s2,w[1],w[2],w[3],bb[1],bb[2],x2[1],x2[2],y2
0.0,1,1.0,2.0,3.0,1.0,1,2,true,2,6.0,5.0,1.0,2.0,3.0,false,true,3.0,4.0,3.0
0.5,1,1.0,2.0,3.0,1.0,1,2,true,2,6.0,5.0,1.0,2.0,3.0,false,true,3.0,4.0,3.0
0.5,3,1.0,2.0,3.0,3.0,3,2,true,2,6.0,5.0,1.0,2.0,3.0,false,true,3.0,4.0,4.0
1.0,3,1.0,2.0,3.0,3.0,3,2,true,2,6.0,5.0,1.0,2.0,3.0,false,true,3.0,4.0,4.0

--- enumerations-in-parameters simulate --stop 1 --intervals 1 ---
model M
  type E = enumeration(a "A", b "B");
  parameter E p = E.b;
  parameter E q(start=E.a) = E.a;
  Real x = if p == E.b then 1 else 0;
  Integer n = Integer(p);
  E mn = min(E.a, E.b);
  E arr[2] = {E.a,E.b};
  E first = E.a;
end M;
--- expect ---
time,p,q,x,n,mn,arr[1],arr[2],first
0.0,2,1,1.0,2,1,1,2,1
1.0,2,1,1.0,2,1,1,2,1

--- unknown-literal error check ---
model M
  type E = enumeration(a, b);
  E x = E.c;
end M;
--- expect ---
exit: 3
error: M.E has no literal c
--> model.mo:3:11

--- overloaded-operators simulate --stop 1 --intervals 1 ---
model M
  operator record C
    Real re;
    Real im;
    encapsulated operator 'constructor'
      function fromReal
        import M.C;
        input Real re;
        input Real im=0;
        output C r(re=re, im=im);
      algorithm
      end fromReal;
    end 'constructor';
    encapsulated operator '*'
      function mul
        import M.C;
        input C a;
        input C b;
        output C r;
      algorithm
        r := C(a.re*b.re-a.im*b.im, a.re*b.im+a.im*b.re);
      end mul;
    end '*';
    encapsulated operator '+'
      function add
        import M.C;
        input C a;
        input C b;
        output C r;
      algorithm
        r := C(a.re+b.re, a.im+b.im);
      end add;
    end '+';
    encapsulated operator '-'
      function neg
        import M.C;
        input C a;
        output C r;
      algorithm
        r := C(-a.re,-a.im);
      end neg;
      function sub
        import M.C;
        input C a;
        input C b;
        output C r;
      algorithm
        r := C(a.re-b.re, a.im-b.im);
      end sub;
    end '-';
    encapsulated operator '0'
      function z
        import M.C;
        output C r;
      algorithm
        r := C(0,0);
      end z;
    end '0';
    encapsulated operator '=='
      function eq
        import M.C;
        input C a;
        input C b;
        output Boolean r;
      algorithm
        r := a.re==b.re and a.im==b.im;
      end eq;
    end '==';
    encapsulated operator 'String'
      function s
        import M.C;
        input C a;
        output String r;
      algorithm
        r := String(a.re) + "+j" + String(a.im);
      end s;
    end 'String';
  end C;
  C a = C(1,2), b = a*a, c = -a + 2*a, d = a - 1;
  C e[2] = {a,b};
  C f = sum(e);
  Boolean g = C(1,1) == C(1,1);
  C h = e*e;
  C k[2] = 2*e;
  C l[2] = e + e;
equation
  assert(String(C(1,2)) == "1+j2", String(C(1,2)));
end M;
--- expect ---
time,a.re,a.im,b.re,b.im,c.re,c.im,d.re,d.im,e[1].re,e[1].im,e[2].re,e[2].im,f.re,f.im,g,h.re,h.im,k[1].re,k[1].im,k[2].re,k[2].im,l[1].re,l[1].im,l[2].re,l[2].im
0.0,1.0,2.0,-3.0,4.0,1.0,2.0,0.0,2.0,1.0,2.0,-3.0,4.0,-2.0,6.0,true,-10.0,-20.0,2.0,4.0,-6.0,8.0,2.0,4.0,-6.0,8.0
1.0,1.0,2.0,-3.0,4.0,1.0,2.0,0.0,2.0,1.0,2.0,-3.0,4.0,-2.0,6.0,true,-10.0,-20.0,2.0,4.0,-6.0,8.0,2.0,4.0,-6.0,8.0

--- operator-that-is-not-defined error check ---
model M
  operator record C
    Real re;
  end C;
  C a = C(1);
  C b = a + a;
end M;
--- expect ---
exit: 3
error: M.C has no operator '+'
--> model.mo:6:9

--- attributes-of-types simulate --stop 1 --intervals 1 ---
model M
  type T = Real(unit="K", min=0, start=300, displayUnit="degC", nominal=100, quantity="Temp");
  T t(fixed=true);
  type V = T[2];
  V v = {1,2};
equation
  der(t) = -1;
end M;
--- expect ---
time,t,v[1],v[2]
0.0,300.0,1.0,2.0
1.0,299.0000000000009,1.0,2.0

--- string-decides-a-size simulate --stop 1 --intervals 1 ---
model M
  parameter String s = "abc";
  parameter Integer n = if s == "abc" then 2 else 3;
  Real x[n] = fill(time, n);
end M;
--- expect ---
time,n,x[1],x[2]
0.0,2,0.0,0.0
1.0,2,1.0,1.0

--- ranges-of-for simulate --stop 1 --intervals 1 ---
model M
  Real a[3], b[4];
  Real c[2,3];
equation
  for i in 1:3 loop
    a[i] = i;
  end for;
  for i in {1,3} loop
    b[i] = i;
  end for;
  for i in 2:2:4 loop
    b[i] = -i;
  end for;
  for i in 1:2, j in 1:3 loop
    c[i,j] = 10*i+j;
  end for;
end M;
--- expect ---
time,a[1],a[2],a[3],b[1],b[2],b[3],b[4],"c[1,1]","c[1,2]","c[1,3]","c[2,1]","c[2,2]","c[2,3]"
0.0,1.0,2.0,3.0,1.0,-2.0,3.0,-4.0,11.0,12.0,13.0,21.0,22.0,23.0
1.0,1.0,2.0,3.0,1.0,-2.0,3.0,-4.0,11.0,12.0,13.0,21.0,22.0,23.0

--- range-from-use simulate --stop 1 --intervals 1 ---
model M
  Real a[3] = {1,2,3};
  Real b[3];
equation
  for i loop
    b[i] = 2*a[i];
  end for;
end M;
--- expect ---
time,a[1],a[2],a[3],b[1],b[2],b[3]
0.0,1.0,2.0,3.0,2.0,4.0,6.0
1.0,1.0,2.0,3.0,2.0,4.0,6.0

--- record-determined-twice error check ---
model M
  record A
    Real x = 1;
  end A;
  A a;
equation
  a.x = 2;
end M;
--- expect ---
exit: 4
error: the model is structurally singular: 1 equations for 0 unknowns; a.x = 2 has no unknown left
--> model.mo:7:3

--- records-of-different-classes error check ---
model M
  record A
    Real x;
  end A;
  record B
    Real y;
  end B;
  A a;
  B b = B(1);
equation
  a = b;
end M;
--- expect ---
exit: 3
error: the right side has no field x
--> model.mo:11:3

--- size-that-is-no-parameter error check ---
model M
  Integer n = integer(time) + 2;
  Real x[n];
equation
  x = ones(n);
end M;
--- expect ---
exit: 3
error: n is neither a parameter nor a constant, so its value is not known when compiling
error: x is neither a parameter nor a constant, so its value is not known when compiling
--> model.mo:2:11

--- negative-size error check ---
model M
  parameter Integer n = -1;
  Real x[n] = zeros(n);
end M;
--- expect ---
exit: 3
error: a dimension must be a nonnegative Integer, not -1
--> model.mo:3:10

--- division-of-integers simulate --stop 1 --intervals 1 ---
model M
  Real x = 7/2;
  Integer i = div(7, 2);
  Real y = 2^(-1);
end M;
--- expect ---
time,x,i,y
0.0,3.5,3,0.5
1.0,3.5,3,0.5

--- integer-from-a-division error check ---
model M
  Integer i = 7/2;
end M;
--- expect ---
exit: 3
error: i is of type Integer, but the value is Real
--> model.mo:2:15

--- logical-operators simulate --stop 1 --intervals 1 ---
model M
  Boolean a = true and not false or false;
  Boolean b = 1 < 2 and 2 <= 2;
  Boolean c = (1 == 1) <> (2 == 3);
  Real x = if a and b and c then 1 else 0;
end M;
--- expect ---
time,a,b,c,x
0.0,true,true,true,1.0
1.0,true,true,true,1.0

--- equality-of-reals error check ---
model M
  Real x = time;
  Boolean b = x == 1.0;
end M;
--- expect ---
exit: 3
error: b may change only at events, but this equation changes it continuously
--> model.mo:3:15

--- iteration-over-records simulate --stop 1 --intervals 1 ---
model M
  record R
    Real a;
    Real b;
  end R;
  parameter R r[2] = {R(1, 2), R(3, 4)};
  Real s = sum(q.a*q.b for q in r);
end M;
--- expect ---
time,s
0.0,14.0
1.0,14.0

--- concatenation simulate --stop 1 --intervals 1 ---
model M
  parameter String s = "a" + String(2) + "b";
equation
  assert(s == "a2b", s);
end M;
--- expect ---
time
0.0
1.0

--- iterators-over-dimensions-declared-by-types simulate --stop 1 --intervals 1 ---
// Without a range an iterator takes the values of the type: sum of e*2e = 2 + 8 + 18, of both truth values 1 + 5.
type E = enumeration(a, b, c);
function f
  input Real w[E];
  output Real s = 0;
protected
  Real v[E];
algorithm
  for e in E loop
    v[e] := 2*w[e];
  end for;
  for e loop
    s := s + v[e];
  end for;
  s := s + sum(w[e] for e) + w[E.b];
end f;
model M
  Real w[E] = {1, 2, 3};
  Real u[E] = {2*w[e] for e};
  Real s = sum(w[e]*u[e] for e);
  Real b[Boolean] = {1, 5};
  Real t = sum(b[k] for k);
  Real last = w[end], rest[2] = w[E.b:end];
  Real y = f({time, 2, 3}) "2*(1 + 2 + 3) + 6 + 2 at the end";
end M;
--- expect ---
time,w[1],w[2],w[3],u[1],u[2],u[3],s,b[1],b[2],t,last,rest[1],rest[2],y
0.0,1.0,2.0,3.0,2.0,4.0,6.0,28.0,1.0,5.0,6.0,3.0,2.0,3.0,17.0
1.0,1.0,2.0,3.0,2.0,4.0,6.0,28.0,1.0,5.0,6.0,3.0,2.0,3.0,20.0
