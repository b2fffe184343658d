Records, functions, enumerations, when, algorithms, initial equations.

--- record-fields flatten ---
record Point
  Real x;
  Real y;
end Point;
model M
  parameter Point a(x = 1, y = 2);
  Point b = Point(time, a.y);
  Point c;
equation
  c = b;
end M;
--- expect ---
model M
  parameter Real a.x = 1;
  parameter Real a.y = 2;
  Real b.x;
  Real b.y;
  Real c.x;
  Real c.y;
equation
  b.x = time;
  b.y = a.y;
  c.x = b.x;
  c.y = b.y;
end M;

--- enumeration flatten ---
type Gear = enumeration(reverse "backwards", neutral, first);
model M
  parameter Gear start = Gear.neutral;
  Gear gear(start = start, fixed = true);
  Real ratio = if gear == Gear.reverse then -3 elseif gear == Gear.first then 3 else 0;
equation
  when time > 1 then
    gear = Gear.first;
  end when;
end M;
--- expect ---
model M
  parameter Gear start = Gear.neutral;
  discrete Gear gear(start = Gear.neutral, fixed = true);
  Real ratio;
  discrete Boolean $when1;
equation
  ratio = if gear == 1 then -3 else if gear == 3 then 3 else 0;
  $when1 = time > 1;
  when {$when1} then
    gear = Gear.first;
  end when;
end M;

--- function-inlined flatten ---
function f
  input Real x;
  output Real y;
algorithm
  y := x^2 + 1;
end f;
model M
  Real z = f(time);
end M;
--- expect ---
model M
  Real z;
equation
  z = time^2 + 1;
end M;

--- function-with-loop-at-compile-time flatten ---
function factorial
  input Integer n;
  output Integer r = 1;
algorithm
  for k in 2:n loop
    r := r*k;
  end for;
end factorial;
model M
  parameter Integer n = factorial(4);
  Real x[factorial(2)] = {time, 1};
end M;
--- expect ---
model M
  parameter Integer n = 24;
  Real x[1];
  Real x[2];
equation
  x[1] = time;
  x[2] = 1;
end M;

--- function-with-two-outputs flatten ---
function polar
  input Real x, y;
  output Real r, phi;
algorithm
  r := sqrt(x^2 + y^2);
  phi := atan2(y, x);
end polar;
model M
  Real r, phi;
equation
  (r, phi) = polar(1 + time, 1);
end M;
--- expect ---
model M
  Real r;
  Real phi;
equation
  r = sqrt((1 + time)^2 + 1);
  phi = atan2(1, 1 + time);
end M;

--- named-and-default-arguments flatten ---
function line
  input Real x;
  input Real slope = 2;
  input Real offset = 0;
  output Real y = slope*x + offset;
algorithm
end line;
model M
  Real a = line(time, offset = 3);
end M;
--- expect ---
model M
  Real a;
equation
  a = 2*time + 3;
end M;

--- recursion-at-compile-time flatten ---
function fib
  input Integer n;
  output Integer r;
algorithm
  if n < 2 then
    r := n;
  else
    r := fib(n - 1) + fib(n - 2);
  end if;
end fib;
model M
  constant Integer k = fib(10);
  Real x = k*time;
end M;
--- expect ---
model M
  constant Integer k = 55;
  Real x;
equation
  x = 55*time;
end M;

--- when-elsewhen flatten ---
model M
  discrete Real a(start = 0, fixed = true);
equation
  when time > 2 then
    a = 2;
  elsewhen {time > 1, initial()} then
    a = pre(a) + 1;
  end when;
end M;
--- expect ---
model M
  discrete Real a(start = 0, fixed = true);
  discrete Boolean $when1;
  discrete Boolean $when2;
equation
  $when1 = time > 2;
  $when2 = time > 1;
  when {$when1} then
    a = 2;
  elsewhen {$when2, initial()} then
    a = pre(a) + 1;
  end when;
end M;

--- initial-equations flatten ---
model M
  parameter Real p(fixed = false);
  Real x;
initial equation
  der(x) = 0;
  p = 2*x;
equation
  der(x) = 1 - x;
end M;
--- expect ---
model M
  parameter Real p(fixed = false);
  Real x;
initial equation
  der(x) = 0;
  p = 2*x;
equation
  der(x) = 1 - x;
end M;

--- if-equation-by-parameter flatten ---
model M
  parameter Integer order = 1;
  Real x, y;
equation
  if order == 1 then
    x = time;
    y = 1;
  else
    x = y^2;
    der(y) = -x;
  end if;
end M;

--- expect ---
model M
  parameter Integer order = 1;
  Real x;
  Real y;
equation
  x = time;
  y = 1;
end M;

--- if-equation-kept-as-modes flatten ---
model M
  Real x, y;
equation
  if time > 1 then
    x = 1;
    y = 2;
  else
    x = y;
    y = 3;
  end if;
end M;
--- expect ---
model M
  Real x;
  Real y;
equation
  x = 1  when time > 1;
  y = 2  when time > 1;
  x = y  when not (time > 1);
  y = 3  when not (time > 1);
end M;

--- package-constants-and-imports flatten ---
package P
  constant Real c = 3;
  package Q
    constant Real d = 2*c;
  end Q;
end P;
model M
  import P.Q.d;
  import C = P.c;
  import P.Q.*;
  Real x = d + C*time;
end M;
--- expect ---
model M
  Real x;
equation
  x = 6 + 3*time;
end M;

--- short-class-with-array flatten ---
type Vector3 = Real[3];
model M
  Vector3 r = {time, 0, 1};
end M;
--- expect ---
model M
  Real r[1];
  Real r[2];
  Real r[3];
equation
  r[1] = time;
  r[2] = 0;
  r[3] = 1;
end M;

--- operator-record flatten ---
operator record C
  Real re;
  Real im;
  operator 'constructor'
    function fromReal
      input Real re;
      input Real im = 0;
      output C result(re = re, im = im);
    algorithm
    end fromReal;
  end 'constructor';
  operator function '+'
    input C a;
    input C b;
    output C c;
  algorithm
    c := C(a.re + b.re, a.im + b.im);
  end '+';
end C;
model M
  C a = C(1, time);
  C b = a + C(2);
end M;
--- expect ---
model M
  Real a.re;
  Real a.im;
  Real b.re;
  Real b.im;
equation
  a.re = 1;
  a.im = time;
  b.re = a.re + 2;
  b.im = a.im;
end M;

--- type-mismatch error check ---
model M
  parameter Integer n = 1.5;
  Real x = true;
  Boolean b = 3;
  String s = 1;
end M;
--- expect ---
exit: 3
error: n is of type Integer, but the value is Real
--> model.mo:2:25
error: x is of type Real, but the value is Boolean
--> model.mo:3:12
error: b is of type Boolean, but the value is Integer
--> model.mo:4:15
error: s is of type String, but the value is Integer
--> model.mo:5:14

--- inner-outer-is-two-components flatten ---
model Level
  Real depth;
end Level;
model Leaf
  outer Level level;
  Real y = level.depth;
end Leaf;
model Nest
  inner outer Level level(depth = own + 1);
  Real own = level.depth;
  Leaf leaf;
end Nest;
model M
  inner Level level(depth = time);
  Nest nest;
  Leaf leaf;
end M;
--- expect ---
model M
  Real level.depth;
  Real nest.own;
  Real nest.leaf.y;
  Real nest.level.depth;
  Real leaf.y;
equation
  level.depth = time;
  nest.own = level.depth;
  nest.leaf.y = nest.level.depth;
  nest.level.depth = nest.own + 1;
  leaf.y = level.depth;
end M;
