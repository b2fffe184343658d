What a run evaluates, in order: batches of one kernel, systems solved together, relations held between events.

--- explicit program ---
model M
  parameter Real k = 2;
  Real x(start = 1, fixed = true);
  Real y = 3*x;
equation
  der(x) = -k*x + y;
end M;
--- expect ---
states
  x, der(x)
continuous
  y := 3*x
  der(x) := y - k*x

--- one-kernel-for-a-grid program ---
model M
  parameter Integer n = 20;
  Real x[n](each start = 1, each fixed = true);
equation
  der(x[1]) = 0;
  for i in 2:n - 1 loop
    der(x[i]) = x[i - 1] - 2*x[i] + x[i + 1];
  end for;
  der(x[n]) = 0;
end M;
--- expect ---
states
  x[1], der(x[1])
  x[2], der(x[2])
  x[3], der(x[3])
  x[4], der(x[4])
  x[5], der(x[5])
  x[6], der(x[6])
  x[7], der(x[7])
  x[8], der(x[8])
  x[9], der(x[9])
  x[10], der(x[10])
  x[11], der(x[11])
  x[12], der(x[12])
  x[13], der(x[13])
  x[14], der(x[14])
  x[15], der(x[15])
  x[16], der(x[16])
  x[17], der(x[17])
  x[18], der(x[18])
  x[19], der(x[19])
  x[20], der(x[20])
continuous
  der(x[1]) := 0
  der(x[2]) := x[1] - 2*x[2] + x[3]
  der(x[3]) := x[2] - 2*x[3] + x[4]
  der(x[4]) := x[3] - 2*x[4] + x[5]
  der(x[5]) := x[4] - 2*x[5] + x[6]
  der(x[6]) := x[5] - 2*x[6] + x[7]
  der(x[7]) := x[6] - 2*x[7] + x[8]
  der(x[8]) := x[7] - 2*x[8] + x[9]
  der(x[9]) := x[8] - 2*x[9] + x[10]
  der(x[10]) := x[9] - 2*x[10] + x[11]
  der(x[11]) := x[10] - 2*x[11] + x[12]
  der(x[12]) := x[11] - 2*x[12] + x[13]
  der(x[13]) := x[12] - 2*x[13] + x[14]
  ... 18 rows of this kernel in all
  der(x[20]) := 0

--- a-system-solved-together program ---
model M
  Real x(start = 1, fixed = true);
  Real a, b(start = 1);
equation
  a^2 + b = x + 3;
  a + b^3 = 2*x;
  der(x) = a;
end M;
--- expect ---
states
  x, der(x)
continuous
  solve 2 nonlinear for b, a:
    #1 := a^2 + b - (x + 3)
    #2 := a + b^3 - 2*x
    jacobian:
      #3 := 2*a
      #4 := 3*b^2
  der(x) := a

--- relations-and-when program ---
model M
  Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = if h > 0.5 then -9.81 else -9;
  when h < 0 then
    reinit(v, -0.8*pre(v));
    n = pre(n) + 1;
  end when;
end M;
--- expect ---
states
  h, der(h)
  v, der(v)
continuous
  der(h) := v
  der(v) := if h > 0.5 then -9.81 else -9
event
  der(h) := v
  h > 0.5 := h > 0.5
  der(v) := if h > 0.5 then -9.81 else -9
  h < 0 := h < 0
  when 1:
    n := pre(n) + 1
crossings
  h > 0.5: #1 := h - 0.5
  h < 0: #2 := h

--- functions-are-called-by-name program ---
model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := x;
    while y > 1 loop
      y := y/2;
    end while;
  end f;
  Real x(start = 3, fixed = true);
equation
  der(x) = f(x);
end M;
--- expect ---
states
  x, der(x)
continuous
  der(x) := M.f(x)
