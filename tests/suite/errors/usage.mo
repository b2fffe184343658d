Wrong use of the command line: exit code 2 and a sentence.

--- unknown-solver error simulate --solver magic ---
model M
  Real x = 1;
end M;

--- expect ---
exit: 2
error: invalid value 'magic' for '--solver <NAME>'

--- set-without-a-value error simulate --set p ---
model M
  parameter Real p = 1;
end M;

--- expect ---
exit: 2
error: invalid value 'p' for '--set <NAME=VALUE>': NAME=VALUE is expected

--- set-of-an-unknown-name error simulate --set q=2 ---
model M
  parameter Real p = 1;
  Real x = p;
end M;

--- expect ---
exit: 3
error: M has no q to modify

--- set-with-nonsense error simulate --set p=abc ---
model M
  parameter Real p = 1;
  Real x = p;
end M;

--- expect ---
exit: 3
error: abc is not known in the top level

--- stop-before-start error simulate --start 2 --stop 1 ---
model M
  Real x = time;
end M;

--- expect ---
exit: 2
error: the stop time 1 lies before the start time 2

--- no-such-model error simulate --model N ---
model M
  Real x = 1;
end M;

--- expect ---
exit: 3
error: there is no class N

--- plot-of-an-unknown-variable error simulate --plot z ---
model M
  Real x = time;
end M;
--- expect ---
exit: 2
error: --plot: there is no variable z

--- set-of-an-element-that-is-not-there error simulate --set p[4]=1 ---
model M
  parameter Real p[3] = {1, 2, 3};
end M;
--- expect ---
exit: 3
error: there is no p[4]: p has the shape [3]

--- set-of-an-element-of-a-scalar error simulate --set p[1]=1 ---
model M
  parameter Real p = 1;
end M;
--- expect ---
exit: 3
error: there is no p[1]: p is no array

--- set-of-a-component-that-is-not-there error simulate --set a[3].p=1 ---
model A
  parameter Real p = 1;
end A;
model M
  A a[2];
end M;
--- expect ---
exit: 3
error: there is no a[3]: a has the shape [2]

--- set-with-subscripts-that-are-names error simulate --set p[n]=1 ---
model M
  parameter Real p[3] = {1, 2, 3};
end M;
--- expect ---
exit: 3
error: the subscripts of --set p[n] must be whole numbers

--- reinit-of-what-equations-determine error check ---
model M
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -x;
  y = 2*x;
  when time > 0.5 then reinit(y, 1); end when;
end M;
--- expect ---
exit: 4
error: reinit needs a state: der(y) occurs in no equation
--> model.mo:6:3

--- discrete-variable-in-two-when-clauses error check ---
model M
  Integer k(start = 0);
equation
  when time > 0.5 then k = 1; end when;
  when time > 0.7 then k = 2; end when;
end M;
--- expect ---
exit: 4
error: the model is structurally singular: discrete variable k is determined by two equations
--> model.mo:5:3
the other one
one when-clause with elsewhen can set k in both cases

--- one-equation-missing-beside-a-distribution error check ---
model M
  Real o0, o1, s, x(start = 0, fixed = true);
equation
  der(x) = 1;
  (o0, o1) = spatialDistribution(sin(time), 0.0, x, true, {0.0, 0.5, 1.0}, {0.0, 1.0, 0.0});
end M;
--- expect ---
exit: 4
warning: M is not balanced: 4 unknowns, 3 equations, one equation too few
--> model.mo:1:7
error: the model is structurally singular: 4 equations for 5 unknowns; not determined: s
--> model.mo:2:16
