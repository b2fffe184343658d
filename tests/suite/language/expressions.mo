Expressions, sizes and types (Modelica 3.6, chapters 3 and 10).

--- a-dimension-from-another-of-the-same-array simulate --stop 0 ---
model M
  parameter Real A[:, size(A, 1)] = [1, 2; 3, 4];
  parameter Real B[2, size(B, 1)](start = zeros(2, 2));
  Real x[size(A, 1)] = A*{1, 1};
end M;
--- expect ---
time,"A[1,1]","A[1,2]","A[2,1]","A[2,2]","B[1,1]","B[1,2]","B[2,1]","B[2,2]",x[1],x[2]
0.0,1.0,2.0,3.0,4.0,0.0,0.0,0.0,0.0,3.0,7.0

--- a-dimension-that-depends-on-itself error check ---
model M
  parameter Real A[size(A, 1)] = {1, 2};
end M;
--- expect ---
exit: 3
error: dimension 1 of A depends on itself
--> model.mo:2:25

--- enumeration-from-a-number simulate --stop 1 --intervals 1 ---
type E = enumeration(one, two, three);
model M
  E x = E(2);
  E y = E(1 + integer(2*time));
  Integer k = Integer(y);
end M;
--- expect ---
time,x,y,k
0.0,2,1,1
0.5,2,1,1
0.5,2,2,2
1.0,2,2,2
1.0,2,3,3

--- enumeration-has-no-such-number error check ---
type E = enumeration(one, two, three);
model M
  E x = E(4);
end M;
--- expect ---
exit: 3
error: E has 3 literals, there is no number 4
--> model.mo:3:9

--- component-chosen-during-the-run simulate --stop 2 --intervals 2 ---
model C
  parameter Real k;
  Real x = k*time;
end C;
model M
  C c[3](k = {1, 2, 3});
  Integer i = if time < 0.5 then 1 elseif time < 1.5 then 3 else 2;
  Real y = c[i].x;
end M;
--- expect ---
time,c[1].x,c[2].x,c[3].x,i,y
0.0,0.0,0.0,0.0,1,0.0
0.5,0.5,1.0,1.5,1,0.5
0.5,0.5,1.0,1.5,3,1.5
1.0,1.0,2.0,3.0,3,3.0
1.5,1.5,3.0,4.5,3,4.5
1.5,1.5,3.0,4.5,2,3.0
2.0,2.0,4.0,6.0,2,4.0

--- sizes-that-only-the-algorithm-knows simulate --stop 0 ---
function divisors
  input Integer n;
  output Integer d[:];
protected
  Integer all[n];
  Integer k = 0;
algorithm
  for i in 1:n loop
    if mod(n, i) == 0 then
      k := k + 1;
      all[k] := i;
    end if;
  end for;
  d := all[1:k];
end divisors;
model M
  parameter Integer n = 12;
  parameter Integer d[:] = divisors(n);
  Real x[size(d, 1)] = 2*d;
end M;
--- expect ---
time,n,d[1],d[2],d[3],d[4],d[5],d[6],x[1],x[2],x[3],x[4],x[5],x[6]
0.0,12,1,2,3,4,6,12,2.0,4.0,6.0,8.0,12.0,24.0

--- size-of-a-result-from-its-first-value simulate --stop 1 --intervals 1 ---
record Curve
  Real y[:];
  Real eta[size(y, 1)];
end Curve;
function curve
  input Real top;
  output Curve c(y = {0, 1, 2}, eta = zeros(3));
algorithm
  for i in 1:3 loop
    c.eta[i] := top*i;
  end for;
end curve;
model M
  parameter Real top = 2;
  parameter Curve c = curve(top);
  Real x = time*sum(c.eta) + size(c.y, 1);
end M;
--- expect ---
time,top,x
0.0,2.0,3.0
1.0,2.0,15.0

--- the-first-of-several-results simulate --stop 0 ---
function f
  input Real x;
  output Real a[2] = {x, 2*x};
  output Real b = 3*x;
algorithm
end f;
model M
  parameter Real p[2] = f(4);
  Real x = p[2];
end M;
--- expect ---
time,p[1],p[2],x
0.0,4.0,8.0,8.0

--- a-when-in-a-branch-that-parameters-rule-out simulate --stop 1 --intervals 1 ---
model M
  parameter Real Ts = 0;
  Real y(start = 0);
equation
  if Ts > 0 then
    when sample(0, Ts) then
      y = time;
    end when;
  else
    y = 2*time;
  end if;
end M;
--- expect ---
time,Ts,y
0.0,0.0,0.0
1.0,0.0,2.0

--- an-integer-through-a-connection-to-a-real simulate --stop 1 --intervals 1 ---
connector IntegerInput = input Integer;
connector IntegerOutput = output Integer;
connector RealOutput = output Real;
block Round
  IntegerOutput y = integer(2*time);
end Round;
block ToReal
  IntegerInput u;
  RealOutput y;
equation
  y = u;
end ToReal;
model M
  Round r;
  ToReal t;
equation
  connect(r.y, t.u);
end M;
--- expect ---
time,r.y,t.u,t.y
0.0,0,0,0.0
0.5,0,0,0.0
0.5,1,1,1.0
1.0,1,1,1.0
1.0,2,2,2.0

--- the-start-finds-a-parameter-behind-another simulate --stop 0 ---
model M
  parameter Real c(fixed = false, start = 1);
  parameter Real d = 2*c;
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), a(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = a;
  a = 3 - d*x;
end M;
--- expect ---
time,c,d,x,v,a
0.0,1.5,3.0,1.0,0.0,0.0
