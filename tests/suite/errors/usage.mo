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
