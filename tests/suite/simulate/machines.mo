State machines: clocked states, transitions, merged outputs.

--- up-and-down simulate --stop 20 --intervals 20 ---
model M
  inner Integer i(start = 0);
  model Up
    outer output Integer i;
  equation
    i = previous(i) + 2;
  end Up;
  model Down
    outer output Integer i;
  equation
    i = previous(i) - 1;
  end Down;
  Up up;
  Down down;
  Boolean rising = activeState(up);
equation
  initialState(up);
  transition(up, down, i > 10, immediate = false);
  transition(down, up, i < 1, immediate = false);
end M;
--- expect ---
x

--- reset-and-history simulate --stop 9 --intervals 9 ---
model M
  model Count
    Integer n(start = 0);
  equation
    n = previous(n) + 1;
  end Count;
  Count a;
  Count b;
  Count c;
  Integer s = if activeState(a) then 1 elseif activeState(b) then 2 else 3;
equation
  initialState(a);
  transition(a, b, ticksInState() > 2, reset = true);
  transition(b, a, ticksInState() > 1, reset = false);
  transition(a, c, false, priority = 2);
end M;
--- expect ---
x

--- immediate-strong-transition simulate --stop 5 --intervals 5 ---
model M
  Boolean go = sample(time > 2.5, Clock(1));
  model Idle
    Integer n(start = 0);
  equation
    n = previous(n) + 1;
  end Idle;
  Idle a;
  Idle b;
equation
  initialState(a);
  transition(a, b, go);
end M;
--- expect ---
x

--- time-in-state simulate --stop 8 --intervals 8 ---
model M
  model S
    Integer n(start = 0);
  equation
    n = previous(n) + 1;
  end S;
  S a;
  S b;
  Boolean in_a = activeState(a);
equation
  initialState(a);
  transition(a, b, timeInState() >= 3);
  transition(b, a, timeInState() >= 2);
end M;
--- expect ---
x

--- hierarchical simulate --stop 8 --intervals 8 ---
model M
  model Inner
    Integer n(start = 0);
  equation
    n = previous(n) + 1;
  end Inner;
  model Outer
    Inner a;
    Inner b;
    Boolean done = activeState(b);
  equation
    initialState(a);
    transition(a, b, ticksInState() > 2);
  end Outer;
  Outer x;
  Inner y;
  Boolean in_x = activeState(x);
equation
  initialState(x);
  transition(x, y, true, synchronize = true);
  transition(y, x, ticksInState() > 1);
end M;
--- expect ---
x

--- no-initial-state error check ---
model M
  model S
    Integer n(start = 0);
  equation
    n = previous(n) + 1;
  end S;
  S a;
  S b;
equation
  transition(a, b, true);
end M;
--- expect ---
x

--- equal-priorities error check ---
model M
  model S
    Integer n(start = 0);
  equation
    n = previous(n) + 1;
  end S;
  S a;
  S b;
  S c;
equation
  initialState(a);
  transition(a, b, true);
  transition(a, c, true);
end M;
--- expect ---
x
