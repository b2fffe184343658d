Arguments that built-in functions and operators refuse (Modelica 3.6, sections 3.7, 10.3, 16 and 17). What one line does wrong does not hide the next.

--- numbers-are-needed error check ---
model M
  Real a = sign(true);
  Real b = atan2(1, "a");
  Integer c = integer("1");
  Real d = rem("a", 2);
  Real f = ceil(false);
  Real g = mod(7, true);
  Real h = div("a", 1);
  Real i = floor("a");
end M;

--- expect ---
exit: 3
error: sign needs numbers, not Boolean
--> model.mo:2:17
error: atan2 needs numbers, not String
--> model.mo:3:21
error: integer needs numbers, not String
--> model.mo:4:23
error: rem needs numbers, not String
--> model.mo:5:16
error: ceil needs numbers, not Boolean
--> model.mo:6:17
error: mod needs numbers, not Boolean
--> model.mo:7:19
error: div needs numbers, not String
--> model.mo:8:16
error: floor needs numbers, not String
--> model.mo:9:18

--- enumerations-become-integers-nothing-else-does error check ---
model M
  Integer a = Integer(1.5);
  Integer b = Integer(true);
end M;

--- expect ---
exit: 3
error: Integer needs an enumeration value, not Real
--> model.mo:2:15
error: Integer needs an enumeration value, not Boolean
--> model.mo:3:15

--- numbers-of-arguments error check ---
model M
  Real a = max(1, 2, 3);
  Boolean b = initial(1);
  Boolean c = terminal(time);
  String d = getInstanceName(1);
  Real f[2] = zeros();
  Real g[2] = fill(2);
  Real h[2, 2] = identity(2, 2);
  Real i = noEvent(1, 2);
  Real j[2] = cat(1);
  Real k = smooth(1);
  Real l = delay(time);
  Real n[3] = cross({1, 2, 3});
  Real o = sinh();
end M;

--- expect ---
exit: 3
error: max needs one or two arguments, 3 are given
--> model.mo:2:12
error: initial takes no arguments, 1 are given
--> model.mo:3:15
error: terminal takes no arguments, 1 are given
--> model.mo:4:15
error: getInstanceName takes no arguments, 1 are given
--> model.mo:5:14
error: zeros needs an argument, 0 are given
--> model.mo:6:15
error: fill needs two arguments or more, 1 are given
--> model.mo:7:15
error: identity needs one argument, 2 are given
--> model.mo:8:18
error: noEvent needs one argument, 2 are given
--> model.mo:9:12
error: cat needs two arguments or more, 1 are given
--> model.mo:10:15
error: smooth needs two arguments, 1 are given
--> model.mo:11:12
error: delay needs two or three arguments, 1 are given
--> model.mo:12:12
error: cross needs two arguments, 1 are given
--> model.mo:13:15
error: sinh needs one argument, 0 are given
--> model.mo:14:12

--- numbers-of-arguments-in-a-function error check ---
model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := min(x, 2, 3);
  end f;
  function g
    input Real x;
    output Real y;
  algorithm
    y := sum({x}, {x});
  end g;
  Real a = f(time);
  Real b = g(time);
end M;

--- expect ---
exit: 3
error: min needs one or two arguments, 3 are given
--> model.mo:6:10
error: sum needs one argument, 2 are given
--> model.mo:12:10

--- sums-and-extremes-of-other-things error check ---
model M
  Boolean a = sum({true, false});
  Real b = min(1, "a");
  Real c = max(true, 1);
  Integer d = product(b for b in {true, false});
  String f = min({"a", "b"});
end M;

--- expect ---
exit: 3
error: sum needs numbers, not Boolean[2]
--> model.mo:2:19
error: min cannot compare Integer and String
--> model.mo:3:12
error: max cannot compare Boolean and Integer
--> model.mo:4:12
error: product needs numbers, not Boolean
--> model.mo:5:15
error: min needs numbers, not String
--> model.mo:6:14

--- shapes-of-arguments error check ---
model M
  Real a[4] = vector([1, 2; 3, 4]);
  Real b[2, 4] = outerProduct({1, 2}, [1, 2; 3, 4]);
  Real c[2] = promote([1, 2], 1);
  Real d[2, 3] = [1, 2, 3; 4, 5, 6]^2;
  Real f[2, 2] = [1, 2; 3, 4]^2.5;
  Real g[2, 2] = [1, 2; 3, 4]^(-1);
  Real h[2] = {1, 2}/{3, 4};
  Boolean i[2] = {1, 2} < {3, 1};
  Boolean j[2] = {true, false} and true;
  Real k[2] = 1 + {1, 2};
end M;

--- expect ---
exit: 3
error: vector needs an array with one dimension of more than one element, not Integer[2, 2]
--> model.mo:2:15
error: outerProduct needs two vectors, not Integer[2, 2]
--> model.mo:3:18
error: promote cannot take dimensions away: Integer[1, 2] has 2, not 1
--> model.mo:4:15
error: only square matrices have powers, not [2, 3]
--> model.mo:5:18
error: the exponent of a matrix must be a nonnegative Integer, not 2.5
--> model.mo:6:18
error: the exponent of a matrix must be a nonnegative Integer, not -1
--> model.mo:7:18
error: Integer[2] cannot be divided by Integer[2], only by a scalar
--> model.mo:8:15
error: relations compare scalars, not Integer[2] and Integer[2]
--> model.mo:9:18
error: Boolean[2] and Boolean have different shapes
--> model.mo:10:18
error: Integer and Integer[2] have different shapes
--> model.mo:11:15

--- elements-of-one-type error check ---
model M
  Real a[4] = cat(1, {1, 2}, {true, false});
  Real b[2, 2] = [1, 2; true, false];
end M;

--- expect ---
exit: 3
error: arrays of Integer and Boolean do not fit together
--> model.mo:2:15
error: arrays of Integer and Boolean do not fit together
--> model.mo:3:18

--- options-of-string error check ---
model M
  String a = String(1, 2, 3, 4);
  String b = String(1.5, foo = 3);
  String c = String(7, significantDigits = 3);
  String d = String(1.5, minimumLength = "a");
  String f = String(1.5, leftJustified = 1);
  String g = String(1.5, format = "8.3q");
  String h = String(1.5, significantDigits = -2);
end M;

--- expect ---
exit: 3
error: String has 2 options for Integer, 3 are given
--> model.mo:2:14
error: there is no argument called foo
--> model.mo:3:26
error: significantDigits is for Reals, not for Integer
--> model.mo:4:24
error: minimumLength must be a nonnegative Integer, not "a"
--> model.mo:5:42
error: leftJustified must be a Boolean, not 1
--> model.mo:6:42
error: "8.3q" is no number format
--> model.mo:7:35
error: significantDigits must be a nonnegative Integer, not -2
--> model.mo:8:46

--- arguments-of-events error check ---
model M
  Boolean a = sample("a", 1);
  Boolean b = change(3);
  Boolean c = edge(true);
  Real d = delay(time, "a");
  Real f = delay(time, 1, 0.5);
  Real g = delay(time, 1, true);
end M;

--- expect ---
exit: 3
error: sample needs a start and an interval, not String
--> model.mo:2:15
error: change needs a variable, not Integer
--> model.mo:3:15
error: edge needs a variable, not Boolean
--> model.mo:4:15
error: the delay time must be a Real scalar, not String
--> model.mo:5:12
error: the delay time 1 is above delayMax, which is 0.5
--> model.mo:6:12
error: delayMax must be a Real scalar, not Boolean
--> model.mo:7:12

--- arguments-of-assert error check ---
model M
  Real x = time;
equation
  assert(x > 0);
  assert(x > 0, "m", level = AssertionLevel.warning, foo = 2);
  assert(x, "m");
  assert(x > 0, "m", AssertionLevel.error, 3);
end M;

--- expect ---
exit: 3
error: assert needs a condition and a message
--> model.mo:4:3
error: assert has no argument foo
--> model.mo:5:54
error: the condition must be a Boolean, not Real
--> model.mo:6:10
error: assert takes at most 3 arguments, 4 are given
--> model.mo:7:3

--- attributes-that-are-text error check ---
model M
  Real x(quantity = 3) = 1;
  Real y(displayUnit = true) = 1;
end M;

--- expect ---
exit: 3
error: x.quantity is of type String, but the value is Integer
--> model.mo:2:21
error: y.displayUnit is of type String, but the value is Boolean
--> model.mo:3:24

--- operators-of-clocks error check ---
model M
  Real u = sample(time, Clock(0.1));
  Real a = hold(u, u);
  Real b = subSample(u, 1.5);
  Boolean c = firstTick(u, u);
  Real d = interval(time);
  Boolean f = firstTick(time);
  Real g = previous(time);
  Real h = sample(time, 0.1, 2);
  Clock k = Clock(0.1, 1);
  Clock l = Clock(time > 0.5, "a");
  Clock n = Clock(1, 2, 3);
  Real o = noClock(u, 1);
  Real p = backSample(u);
end M;

--- expect ---
exit: 3
error: hold needs one argument, 2 are given
--> model.mo:3:12
error: factor must be an Integer, not the Real 1.5
--> model.mo:4:25
error: firstTick takes at most one argument, 2 are given
--> model.mo:5:15
error: interval needs a clocked signal
--> model.mo:6:12
error: firstTick needs a clocked signal
--> model.mo:7:15
error: previous needs a clocked variable: time has no ticks
--> model.mo:8:12
error: sample needs one or two arguments, 3 are given
--> model.mo:9:12
error: a clock with a Real interval has no further arguments
--> model.mo:10:13
error: startInterval must be a Real, not a String
--> model.mo:11:31
error: Clock takes at most two arguments, 3 are given
--> model.mo:12:13
error: noClock needs one argument, 2 are given
--> model.mo:13:12
error: backSample needs two or three arguments, 1 are given
--> model.mo:14:12

--- pre-on-a-clock error check ---
model M
  Integer n(start = 0), m(start = 0);
  Boolean b(start = false), c;
equation
  when Clock(0.1) then
    n = pre(n) + 1;
    m = previous(m) + 1;
    b = m > 3;
    c = edge(b);
  end when;
end M;

--- expect ---
exit: 3
error: pre cannot be used in a when-clause that a clock drives
--> model.mo:6:9
error: edge cannot be used in a when-clause that a clock drives
--> model.mo:9:9

--- arguments-of-state-machines error check ---
model M
  block S
    outer output Integer i;
  equation
    i = previous(i) + 1;
  end S;
  inner Integer i(start = 0);
  S a, b;
equation
  initialState(a, b);
  transition(a, b, i > 3, foo = 2);
  transition(b, a, i > 5, immediate = 3);
end M;

--- expect ---
exit: 3
error: initialState takes at most 1 argument, 2 are given
--> model.mo:10:3
error: transition has no argument foo
--> model.mo:11:27
error: immediate must be a Boolean, not Integer
--> model.mo:12:39

--- operators-of-models-in-functions error check ---
model M
  connector F Real p; flow Real m; stream Real h; end F;
  function f1 input Real x; output Real y; algorithm y := inStream(x); end f1;
  function f2 input Real x; output Real y; algorithm y := cardinality(x); end f2;
  function f3 input Real x; output Real y; algorithm y := hold(x); end f3;
  function f4 input Real x; output Real y; algorithm y := previous(x); end f4;
  function f5 input Real x; output Real y; algorithm y := edge(x > 1); end f5;
  function f6 input Real x; output Real y; algorithm y := terminal(); end f6;
  Real a = f1(time), b = f2(time), c = f3(time), d = f4(time), e = f5(time), g = f6(time);
end M;
--- expect ---
exit: 3
error: inStream cannot be used in a function
--> model.mo:3:59
error: cardinality cannot be used in a function
--> model.mo:4:59
error: hold cannot be used in a function
--> model.mo:5:59
error: previous cannot be used in a function
--> model.mo:6:59
error: edge cannot be used in a function
--> model.mo:7:59
error: terminal cannot be used in a function
--> model.mo:8:59
