Language that shows only in a run.

--- clocked-sum simulate --stop 0.5 --intervals 1 ---
model M
  Real u = 4*time;
  Real y(start = 0), z;
equation
  y = previous(y) + sample(u, Clock(0.25));
  z = hold(y);
end M;

--- expect ---
time,u,y,z
0.0,0.0,0.0,0.0
0.25,1.0,0.0,0.0
0.25,1.0,1.0,1.0
0.5,2.0,1.0,1.0
0.5,2.0,3.0,3.0

--- homotopy-is-its-first-argument simulate --stop 2 --intervals 2 ---
model M
  Real x(start = 1);
equation
  homotopy(x^3, x) = 8*(1 + time)^3;
end M;

--- expect ---
time,x
0.0,2.0
1.0,4.0
2.0,6.0

--- function-as-an-argument simulate --stop 1 --intervals 1 ---
model M
  partial function Integrand
    input Real x;
    output Real y;
  end Integrand;
  function square
    extends Integrand;
  algorithm
    y := 3*x^2;
  end square;
  function simpson
    input Real a, b;
    input Integrand f;
    output Real s = (b - a)*(f(a) + 4*f((a + b)/2) + f(b))/6;
  algorithm
  end simpson;
  Real y = simpson(0, 2*time, square);
end M;

--- expect ---
time,y
0.0,0.0
1.0,8.0

--- package-redeclared simulate --stop 1 --intervals 1 ---
package Base
  constant Real cp = 0;
  replaceable partial function h
    input Real T;
    output Real h;
  end h;
end Base;
package Water
  extends Base(cp = 4200);
  redeclare function extends h
  algorithm
    h := cp*T;
  end h;
end Water;
model Pipe
  replaceable package Medium = Base;
  Real h = Medium.h(300 + time);
end Pipe;
model M
  Pipe p(redeclare package Medium = Water);
end M;

--- expect ---
time,p.h
0.0,1260000.0
1.0,1264200.0

--- inactive-variable-is-empty simulate --stop 2 --intervals 2 ---
model M
  Real x(start = 1, fixed = true), z;
equation
  if time < 1 then
    der(x) = 1;
    z = 2*x;
  else
    x = 4;
  end if;
end M;

--- expect ---
time,x,z
0.0,1.0,2.0
1.0,2.0000000000000004,4.000000000000001
1.0,4.0,
2.0,4.0,

--- records-through-modifiers simulate --stop 1 --intervals 1 ---
record Data
  parameter Real a = 1;
  parameter Real b[2] = {1, 2};
end Data;
model Sub
  parameter Data d;
  Real y = d.a + d.b[2]*time;
end Sub;
model M
  parameter Data d(a = 3);
  Sub s(d = d);
  Sub q(d = Data(a = 7, b = {5, 6}));
  Sub pair[2](d = {d, Data(b = {0, 0})});
end M;

--- expect ---
time,s.y,q.y,pair[1].y,pair[2].y
0.0,3.0,7.0,3.0,1.0
1.0,5.0,13.0,5.0,1.0

--- break-in-a-while simulate --stop 1 --intervals 1 ---
model M
  Integer n(start = 0, fixed = true);
algorithm
  when time >= 0.5 then
    n := 0;
    while n < 5 loop
      n := n + 1;
      if n == 3 then
        break;
      end if;
    end while;
  end when;
end M;

--- expect ---
time,n
0.0,0
0.5,0
0.5,3
1.0,3

--- semi-linear-and-sign simulate --stop 1 --intervals 2 ---
model M
  Real q = semiLinear(time - 0.5, 2, 3);
  Real s = sign(time - 0.25);
end M;

--- expect ---
time,q,s
0.0,-1.5,-1.0
0.25,-0.75,-1.0
0.25,-0.75,1.0
0.5,0.0,1.0
0.5,0.0,1.0
1.0,1.0,1.0

--- foreign-c-is-refused error simulate ---
function f
  input Real x;
  output Real y;
  external "C" y = nobody_has_this(x);
end f;
model M
  Real y = f(time);
end M;
--- expect ---
exit: 3
error: there is no C code for nobody_has_this: name it in an Include or Library annotation of the external function
--> model.mo:1:10

--- homotopy-chooses-among-solutions simulate --stop 1 --intervals 1 ---
model M "a latch: 3, 0 and -3 solve it; the simplified expression chooses"
  parameter Real g = 2;
  Real low, high;
equation
  low = homotopy(actual = min(3, max(-3, g*low)), simplified = -3);
  high = homotopy(actual = min(3, max(-3, g*high)), simplified = 3);
end M;
--- expect ---
time,g,low,high
0.0,2.0,-3.0,3.0
1.0,2.0,-3.0,3.0
