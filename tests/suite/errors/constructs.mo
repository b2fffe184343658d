Constructs of the language, each used in a way that it does not allow.

--- operator-records-are-not-extended error check ---
operator record V
  Real x;
end V;
operator record W
  extends V;
  Real y;
end W;
model M
  W w(x = 1, y = 2);
end M;
--- expect ---
exit: 3
error: W cannot extend V: an operator record is taken over by a short class only
--> model.mo:5:11

--- short-classes-of-operator-records check ---
operator record V
  Real x;
  encapsulated operator '+'
    function add
      import V;
      input V a;
      input V b;
      output V c;
    algorithm
      c := V(a.x + b.x);
    end add;
  end '+';
end V;
operator record W = V(x(unit = "m"));
model M
  W a(x = time), b(x = 2);
  V c = a + b;
end M;
--- expect ---
M: no errors

--- two-overloads-for-the-same-arguments error check ---
operator record V
  Real x;
  encapsulated operator '+'
    function add
      import V;
      input V a;
      input V b;
      output V c;
    algorithm
      c := V(a.x + b.x);
    end add;
    function subtract
      import V;
      input V a;
      input V b;
      output V c;
    algorithm
      c := V(a.x - b.x);
    end subtract;
  end '+';
end V;
model M
  V v = V(1) + V(2);
end M;
--- expect ---
exit: 3
error: two functions of the operator '+' of V take these arguments: add and subtract
--> model.mo:23

--- an-operator-that-is-not-there error check ---
operator record V
  Real x;
  encapsulated operator '%'
    function rest
      import V;
      input V a;
      input V b;
      output V c;
    algorithm
      c := V(a.x - b.x);
    end rest;
  end '%';
end V;
model M
  V v(x = 1);
end M;
--- expect ---
exit: 3
error: there is no operator '%' that a record could define
--> model.mo:3

--- no-such-operator-in-a-function error check ---
operator record V
  Real x;
end V;
function twice
  input V v;
  output V w;
algorithm
  w := v + v;
end twice;
model M
  V v = twice(V(time));
end M;
--- expect ---
exit: 3
error: V has no operator '+'
--> model.mo:8

--- encapsulated-classes-see-no-constants-outside error check ---
package P
  constant Real g = 2;
  encapsulated model X
    Real y = g;
  end X;
  model M
    X x;
  end M;
end P;
--- expect ---
exit: 3
error: g is not known in P.X
--> model.mo:4:14
P.X is encapsulated: import what it uses

--- encapsulated-classes-see-no-siblings error check ---
package P
  model A
    Real x = 1;
  end A;
  encapsulated model B
    A a;
  end B;
  model M
    B b;
  end M;
end P;
--- expect ---
exit: 3
--> model.mo:6:5
is encapsulated: import what it uses

--- actual-stream-of-a-potential error check ---
connector P
  Real p;
  flow Real m;
  stream Real h;
end P;
model M
  P p;
  Real y = actualStream(p.p);
equation
  p.h = 1;
end M;
--- expect ---
exit: 3
--> model.mo:8
actualStream

--- in-stream-of-a-variable error check ---
model M
  Real h = 1;
  Real y = inStream(h);
end M;
--- expect ---
exit: 3
--> model.mo:3
inStream

--- a-connector-with-streams-and-two-flows error check ---
connector P
  Real p;
  flow Real m;
  flow Real q;
  stream Real h;
end P;
model M
  P p;
equation
  p.h = 1;
end M;
--- expect ---
exit: 3
error: P has stream variables, so it must have exactly one flow variable, not 2
--> model.mo:1

--- cardinality-of-a-variable error check ---
model M
  Real x = 1;
  Real y = cardinality(x);
end M;
--- expect ---
exit: 3
--> model.mo:3

--- cardinality-of-nothing error check ---
connector P
  Real p;
  flow Real m;
end P;
model M
  P p;
equation
  p.p = cardinality();
end M;
--- expect ---
exit: 3
--> model.mo:8

--- a-connector-connected-to-itself error check ---
connector P
  Real v;
  flow Real i;
end P;
model Source
  P p;
equation
  p.v = 1;
end Source;
model M
  Source a;
equation
  connect(a.p, a.p);
end M;
--- expect ---
exit: 0
warning: a.p is connected to itself, which says nothing
--> model.mo:13:3

--- each-before-the-modifier-of-a-scalar error check ---
model A
  parameter Real p = 1;
end A;
model M
  A a(each p = 3);
  Real x(each start = 1) = time;
end M;
--- expect ---
exit: 0
warning: `each` stands before a modifier of a.p, which is in no array
--> model.mo:5
warning: `each` stands before a modifier of x, which is in no array
--> model.mo:6

--- each-where-an-array-is-around check ---
model A
  parameter Real p = 1;
  Real x[2](each start = 0) = {p, p};
end A;
model B
  A a;
end B;
model M
  A a[3](each p = 3);
  B b[2](each a(p = 4));
  B c[2](a(each p = 5));
  type Pair = Real[2];
  Pair q(each min = 0) = {1, 2};
end M;
--- expect ---
M: no errors

--- integers-for-dimensions-declared-by-a-type error check ---
type Size = enumeration(small, large);
model M
  Real w[Size] = {1, 2};
  Real b[Boolean] = {3, 4};
  Real x = w[1];
  Real y = b[2];
end M;
--- expect ---
exit: 3
error: the subscript is an Integer, but this dimension is declared by a type
--> model.mo:5:14
--> model.mo:6:14

--- integers-for-dimensions-declared-by-a-type-in-a-function error check ---
type Size = enumeration(small, large);
function f
  input Real w[Size];
  output Real y;
algorithm
  y := w[1];
end f;
model M
  Real x = f({time, 2});
end M;
--- expect ---
exit: 3
error: the subscript is an Integer, but this dimension is declared by a type
--> model.mo:6:10

--- a-class-extended-that-is-not-inherited error check ---
package A
  constant Real k = 1;
end A;
package B
  extends A;
  redeclare function extends f
  algorithm
    y := 2*x;
  end f;
end B;
model M
  Real y = B.f(time);
end M;
--- expect ---
exit: 3
--> model.mo:6

--- an-argument-bound-that-the-function-lacks error check ---
partial function F
  input Real x;
  output Real y;
end F;
function g
  extends F;
  input Real a = 1;
algorithm
  y := a*x;
end g;
function twice
  input F f;
  input Real x;
  output Real y;
algorithm
  y := f(x) + f(x);
end twice;
model M
  Real y = twice(function g(b = 2), time);
end M;
--- expect ---
exit: 3
error: g has no input b
--> model.mo:19:29

--- no-such-question-about-the-graph error check ---
connector C
  Real a;
  flow Real b;
end C;
model M
  C c;
equation
  Connections.trunk(c.a);
  c.a = 1;
end M;
--- expect ---
exit: 3
error: Connections.trunk is not known
--> model.mo:8

--- a-branch-of-numbers error check ---
model M
  Real x = 1;
equation
  Connections.root(2*x);
end M;
--- expect ---
exit: 3
--> model.mo:4

--- end-outside-of-subscripts error check ---
model M
  Real x[3] = {1, 2, 3};
  Real y = end;
end M;
--- expect ---
exit: 3
`end` is an index only inside
--> model.mo:3

--- a-comprehension-over-a-number error check ---
model M
  Real x[:] = {i for i in 3};
end M;
--- expect ---
exit: 3
error: i must run over a vector
--> model.mo:2

--- return-outside-of-a-function error check ---
model M
  Real x;
algorithm
  x := 1;
  return;
end M;
--- expect ---
exit: 3
error: `return` ends a function
--> model.mo:5

--- a-when-in-an-initial-section error check ---
model M
  Real x(start = 0);
equation
  der(x) = 1;
initial equation
  when time > 1 then
    x = 1;
  end when;
end M;
--- expect ---
exit: 3
--> model.mo:6

--- a-record-bound-to-one-with-fewer-fields error check ---
record A
  Real x = 1;
end A;
record B
  Real x = 2;
  Real y = 3;
end B;
model M
  A a;
  B b = a;
end M;
--- expect ---
exit: 3
--> model.mo:10

--- a-record-with-a-field-left-out error check ---
record R
  Real a;
  Real b;
end R;
function f
  input Real x;
  output R r;
algorithm
  r := R(b = x);
end f;
model M
  R r = R(1);
  R s = f(time);
end M;
--- expect ---
exit: 3
error: R needs a value for its field b, which has no default
--> model.mo:12:9
error: R needs a value for its field a, which has no default
--> model.mo:9:8

--- a-replaceable-class-extended error check ---
model M
  model A
    Real x = 1;
  end A;
  replaceable model T = A;
  model B
    extends T;
  end B;
  B b;
end M;
--- expect ---
exit: 3
error: M.B cannot extend M.T, which is replaceable
--> model.mo:7:13
declared here

--- more-flows-than-potentials error check ---
connector P
  Real v;
  flow Real i;
  flow Real j;
end P;
model M
  P p;
equation
  p.v = 1;
end M;
--- expect ---
exit: 0
warning: P has 1 potential and 2 flow variables: they should be as many
--> model.mo:1:11

--- an-external-object-without-a-destructor error check ---
class E
  extends ExternalObject;
  function constructor
    output E e;
  external "C" e = start();
  end constructor;
end E;
model M
  E e = E();
end M;
--- expect ---
exit: 3
error: E is an external object and needs a destructor
--> model.mo:1:7
