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
time,i,rising
0.0,2,true
1.0,2,true
1.0,4,true
2.0,4,true
2.0,6,true
3.0,6,true
3.0,8,true
4.0,8,true
4.0,10,true
5.0,10,true
5.0,12,true
6.0,12,true
6.0,11,false
7.0,11,false
7.0,10,false
8.0,10,false
8.0,9,false
9.0,9,false
9.0,8,false
10.0,8,false
10.0,7,false
11.0,7,false
11.0,6,false
12.0,6,false
12.0,5,false
13.0,5,false
13.0,4,false
14.0,4,false
14.0,3,false
15.0,3,false
15.0,2,false
16.0,2,false
16.0,1,false
17.0,1,false
17.0,0,false
18.0,0,false
18.0,2,true
19.0,2,true
19.0,4,true
20.0,4,true
20.0,6,true

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
time,a.n,b.n,c.n,s
0.0,1,0,0,1
1.0,1,0,0,1
1.0,2,0,0,1
2.0,2,0,0,1
2.0,2,1,0,2
3.0,2,1,0,2
3.0,3,1,0,1
4.0,3,1,0,1
4.0,4,1,0,1
5.0,4,1,0,1
5.0,4,1,0,2
6.0,4,1,0,2
6.0,5,1,0,1
7.0,5,1,0,1
7.0,6,1,0,1
8.0,6,1,0,1
8.0,6,1,0,2
9.0,6,1,0,2
9.0,7,1,0,1

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
time,go,a.n,b.n
0.0,false,1,0
1.0,false,1,0
1.0,false,2,0
2.0,false,2,0
2.0,false,3,0
2.5,false,3,0
2.5,false,3,0
3.0,false,3,0
3.0,true,3,1
4.0,true,3,1
4.0,true,3,2
5.0,true,3,2
5.0,true,3,3

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
time,a.n,b.n,in_a
0.0,1,0,true
1.0,1,0,true
1.0,2,0,true
2.0,2,0,true
2.0,3,0,true
3.0,3,0,true
3.0,3,1,false
4.0,3,1,false
4.0,3,2,false
5.0,3,2,false
5.0,1,2,true
6.0,1,2,true
6.0,2,2,true
7.0,2,2,true
7.0,3,2,true
8.0,3,2,true
8.0,3,1,false

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
time,x.a.n,x.b.n,x.done,y.n,in_x
0.0,1,0,false,0,true
1.0,1,0,false,0,true
1.0,2,0,false,0,true
2.0,2,0,false,0,true
2.0,2,1,true,0,true
3.0,2,1,true,0,true
3.0,2,1,true,1,false
4.0,2,1,true,1,false
4.0,1,1,false,1,true
5.0,1,1,false,1,true
5.0,2,1,false,1,true
6.0,2,1,false,1,true
6.0,2,1,true,1,true
7.0,2,1,true,1,true
7.0,2,1,true,1,false
8.0,2,1,true,1,false
8.0,1,1,false,1,true

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
exit: 3
error: this state machine has no initial state
--> model.mo:10:3

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
exit: 3
error: two transitions from a have the priority 1
--> model.mo:13:3

--- continuous-states-are-branches flatten ---
model M
  model S
    Real x(start = 0);
  equation
    der(x) = 1;
  end S;
  S a;
  S b;
equation
  initialState(a);
  transition(a, b, a.x > 1);
end M;
--- expect ---
model M
  Real a.x(start = 0);
  Real b.x(start = 0);
  discrete Integer $state1(start = 0, fixed = true);
  discrete Boolean $reset2(start = false);
  discrete Boolean active(a);
  discrete Boolean $enter4;
  discrete Boolean $enter5;
equation
  der(a.x) = 1  when active(a);
  der(b.x) = 1  when not (active(a));
  $state1 = if pre($state1) == 0 then 1 else if pre($state1) == 1 and a.x > 1 then 2 else pre($state1);
  $reset2 = pre($state1) == 0 or (if pre($state1) == 1 and a.x > 1 then true else false);
  active(a) = $state1 == 1;
  der(a.x) = 0  when not (active(a));
  der(b.x) = 0  when active(a);
  $enter4 = $state1 == 1 and $reset2;
  $enter5 = $state1 == 2 and $reset2;
  when {$enter4} then
    reinit(a.x, 0);
  end when;
  when {$enter5} then
    reinit(b.x, 0);
  end when;
end M;

--- no-ticks-in-continuous-time error check ---
model M
  model A
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
  end A;
  A a;
  A b;
equation
  initialState(a);
  transition(a, b, ticksInState() > 2);
end M;
--- expect ---
exit: 3
error: ticksInState() of a state with differential equations

--- reset-or-not simulate --stop 8 --intervals 8 ---
model M
  block A
    outer output Integer n;
    Integer k(start=0);
  equation
    k = previous(k) + 1;
    n = k;
  end A;
  block B
    outer output Integer n;
    Integer k(start=100);
  equation
    k = previous(k) + 1;
    n = k;
  end B;
  inner Integer n(start=0);
  A a;
  B b;
  Integer c(start=0);
equation
  c = previous(c) + 1;
  initialState(a);
  transition(a, b, c == 4, immediate=true, reset=true);
  transition(b, a, c == 7, immediate=true, reset=false);
  transition(a, b, c == 9, immediate=true, reset=true, priority=2);
end M;
--- expect ---
time,n,a.k,b.k,c
0.0,1,1,100,1
1.0,1,1,100,1
1.0,2,2,100,2
2.0,2,2,100,2
2.0,3,3,100,3
3.0,3,3,100,3
3.0,101,3,101,4
4.0,101,3,101,4
4.0,102,3,102,5
5.0,102,3,102,5
5.0,103,3,103,6
6.0,103,3,103,6
6.0,4,4,103,7
7.0,4,4,103,7
7.0,5,5,103,8
8.0,5,5,103,8
8.0,101,5,101,9

--- nested-machine-without-reset simulate --stop 8 --intervals 8 ---
model M "hierarchical: reset of the outer state resets the inner machine; without, it goes on where it was"
  block Inner
    outer output Integer n;
    Integer k(start=0);
  equation
    k = previous(k) + 1;
    n = k;
  end Inner;
  block Outer
    outer output Integer n;
    inner Integer m(start=0);
    block S1
      outer output Integer m;
    equation
      m = previous(m) + 1;
    end S1;
    block S2
      outer output Integer m;
    equation
      m = previous(m) + 10;
    end S2;
    S1 s1;
    S2 s2;
  equation
    n = m;
    initialState(s1);
    transition(s1, s2, m >= 2, immediate=false);
  end Outer;
  inner Integer n(start=0);
  Outer o;
  Inner i;
  Integer c(start=0);
  parameter Boolean r = false;
equation
  c = previous(c) + 1;
  initialState(o);
  transition(o, i, c == 5, reset=true);
  transition(i, o, c == 7, reset=r);
end M;
--- expect ---
time,n,o.m,i.k,c,r
0.0,1,1,0,1,false
1.0,1,1,0,1,false
1.0,2,2,0,2,false
2.0,2,2,0,2,false
2.0,12,12,0,3,false
3.0,12,12,0,3,false
3.0,22,22,0,4,false
4.0,22,22,0,4,false
4.0,1,22,1,5,false
5.0,1,22,1,5,false
5.0,2,22,2,6,false
6.0,2,22,2,6,false
6.0,32,32,2,7,false
7.0,32,32,2,7,false
7.0,42,42,2,8,false
8.0,42,42,2,8,false
8.0,52,52,2,9,false

--- nested-machine-with-reset simulate --stop 8 --intervals 8 ---
model M "hierarchical: reset of the outer state resets the inner machine; without, it goes on where it was"
  block Inner
    outer output Integer n;
    Integer k(start=0);
  equation
    k = previous(k) + 1;
    n = k;
  end Inner;
  block Outer
    outer output Integer n;
    inner Integer m(start=0);
    block S1
      outer output Integer m;
    equation
      m = previous(m) + 1;
    end S1;
    block S2
      outer output Integer m;
    equation
      m = previous(m) + 10;
    end S2;
    S1 s1;
    S2 s2;
  equation
    n = m;
    initialState(s1);
    transition(s1, s2, m >= 2, immediate=false);
  end Outer;
  inner Integer n(start=0);
  Outer o;
  Inner i;
  Integer c(start=0);
  parameter Boolean r = true;
equation
  c = previous(c) + 1;
  initialState(o);
  transition(o, i, c == 5, reset=true);
  transition(i, o, c == 7, reset=r);
end M;
--- expect ---
time,n,o.m,i.k,c,r
0.0,1,1,0,1,true
1.0,1,1,0,1,true
1.0,2,2,0,2,true
2.0,2,2,0,2,true
2.0,12,12,0,3,true
3.0,12,12,0,3,true
3.0,22,22,0,4,true
4.0,22,22,0,4,true
4.0,1,22,1,5,true
5.0,1,22,1,5,true
5.0,2,22,2,6,true
6.0,2,22,2,6,true
6.0,1,1,2,7,true
7.0,1,1,2,7,true
7.0,2,2,2,8,true
8.0,2,2,2,8,true
8.0,12,12,2,9,true

--- states-that-set-a-shared-variable simulate --stop 5 --intervals 5 ---
model M
  block S outer output Integer i; equation i = previous(i) + 1; end S;
  block T outer output Integer i; equation i = 0; end T;
  inner Integer i(start = 0);
  S s; T t; S r;
  Boolean a = activeState(s), b = activeState(t), c = activeState(r);
equation
  initialState(s);
  transition(s, t, i >= 2, immediate = false, priority = 1);
  transition(s, r, i >= 2, immediate = false, priority = 2);
  transition(t, s, true, immediate = false);
end M;
--- expect ---
time,i,a,b,c
0.0,1,true,false,false
1.0,1,true,false,false
1.0,2,true,false,false
2.0,2,true,false,false
2.0,0,false,true,false
3.0,0,false,true,false
3.0,1,true,false,false
4.0,1,true,false,false
4.0,2,true,false,false
5.0,2,true,false,false
5.0,0,false,true,false

--- inner-outer-output simulate --stop 30 --intervals 10 ---
// The example of section 17.3.6: what the states inside state1 give to its v goes to the v outside. By hand, tick by tick:
// 2 4 6 5 4 3 2 1 0 0 2 4 6 5 4 3 2 1 0 0 0 5 10 15 20 22 21 20 19 18 17.
model M
  inner Integer v(start = 0);
  model State1
    inner Integer count(start = 0);
    inner outer output Integer v;
    block StateA
      outer output Integer v;
    equation
      v = previous(v) + 2;
    end StateA;
    block StateB
      outer output Integer v;
    equation
      v = previous(v) - 1;
    end StateB;
    block StateC
      outer output Integer count;
    equation
      count = previous(count) + 1;
    end StateC;
    block StateD
    end StateD;
    StateA stateA;
    StateB stateB;
    StateC stateC;
    StateD stateD;
  equation
    initialState(stateA);
    transition(stateA, stateB, v >= 6, immediate = false);
    transition(stateB, stateC, v == 0, immediate = false);
    transition(stateC, stateA, true, immediate = false, priority = 2);
    transition(stateC, stateD, count >= 2, immediate = false);
  end State1;
  block State2
    outer output Integer v;
  equation
    v = previous(v) + 5;
  end State2;
  State1 state1;
  State2 state2;
equation
  initialState(state1);
  transition(state1, state2, activeState(state1.stateD), immediate = false);
  transition(state2, state1, v >= 20, immediate = false);
end M;
--- expect ---
time,v,state1.count,state1.v
0.0,2,0,2
1.0,2,0,2
1.0,4,0,4
2.0,4,0,4
2.0,6,0,6
3.0,6,0,6
3.0,5,0,5
4.0,5,0,5
4.0,4,0,4
5.0,4,0,4
5.0,3,0,3
6.0,3,0,3
6.0,2,0,2
7.0,2,0,2
7.0,1,0,1
8.0,1,0,1
8.0,0,0,0
9.0,0,0,0
9.0,0,1,0
10.0,0,1,0
10.0,2,1,2
11.0,2,1,2
11.0,4,1,4
12.0,4,1,4
12.0,6,1,6
13.0,6,1,6
13.0,5,1,5
14.0,5,1,5
14.0,4,1,4
15.0,4,1,4
15.0,3,1,3
16.0,3,1,3
16.0,2,1,2
17.0,2,1,2
17.0,1,1,1
18.0,1,1,1
18.0,0,1,0
19.0,0,1,0
19.0,0,2,0
20.0,0,2,0
20.0,0,2,0
21.0,0,2,0
21.0,5,2,0
22.0,5,2,0
22.0,10,2,0
23.0,10,2,0
23.0,15,2,0
24.0,15,2,0
24.0,20,2,0
25.0,20,2,0
25.0,22,0,22
26.0,22,0,22
26.0,21,0,21
27.0,21,0,21
27.0,20,0,20
28.0,20,0,20
28.0,19,0,19
29.0,19,0,19
29.0,18,0,18
30.0,18,0,18
30.0,17,0,17

--- inner-outer-output-through-two-states simulate --stop 6 --intervals 1 ---
model M
  inner Real v(start = 0);
  model Outer
    inner outer output Real v;
    model Middle
      inner outer output Real v;
      model Up
        outer output Real v;
      equation
        v = previous(v) + 0.5;
      end Up;
      Up up;
    equation
      initialState(up);
    end Middle;
    Middle middle;
  equation
    initialState(middle);
  end Outer;
  block Down
    outer output Real v;
  equation
    v = previous(v) - 1;
  end Down;
  Outer outside;
  Down down;
equation
  initialState(outside);
  transition(outside, down, v >= 1.5, immediate = false);
end M;
--- expect ---
time,v,outside.middle.v,outside.v
0.0,0.5,0.5,0.5
1.0,0.5,0.5,0.5
1.0,1.0,1.0,1.0
2.0,1.0,1.0,1.0
2.0,1.5,1.5,1.5
3.0,1.5,1.5,1.5
3.0,0.5,1.5,1.5
4.0,0.5,1.5,1.5
4.0,-0.5,1.5,1.5
5.0,-0.5,1.5,1.5
5.0,-1.5,1.5,1.5
6.0,-1.5,1.5,1.5
6.0,-2.5,1.5,1.5

--- assertion-in-a-state simulate --stop 5 --intervals 1 ---
// It holds while the state is active; later it would not.
model M
  inner Integer i(start = 0);
  model A
    outer output Integer i;
  equation
    i = previous(i) + 1;
    assert(i <= 2, "i is too large in A");
  end A;
  model B
    outer output Integer i;
  equation
    i = previous(i) + 10;
  end B;
  A a;
  B b;
equation
  initialState(a);
  transition(a, b, i >= 2, immediate = false);
end M;
--- expect ---
time,i
0.0,1
1.0,1
1.0,2
2.0,2
2.0,12
3.0,12
3.0,22
4.0,22
4.0,32
5.0,32
5.0,42

--- a-reset-from-around-waits-for-states-that-are-inactive simulate --stop 1 --intervals 1 --variables s.b.k,g ---
// s is reset at 0.4; its state b, entered without a reset at 0.6, begins with k = 1 (Modelica 3.6, 17.3.4).
model M
  inner Integer g(start = 0);
  block S
    outer Integer g;
    block A
      Integer k(start = 0);
    equation
      k = previous(k) + 1;
    end A;
    block B
      Integer k(start = 0);
    equation
      k = previous(k) + 1;
    end B;
    A a;
    B b;
  equation
    initialState(a);
    transition(a, b, g == 2 or g == 6, immediate = false, reset = false);
  end S;
  S s;
equation
  when Clock(1, 10) then
    g = previous(g) + 1;
  end when;
  initialState(s);
  transition(s, s, g == 4, immediate = false, reset = true);
end M;
--- expect ---
time,g,s.b.k
0.0,1,0
0.1,1,0
0.1,2,0
0.2,2,0
0.2,3,1
0.30000000000000004,3,1
0.30000000000000004,4,2
0.4,4,2
0.4,5,2
0.5,5,2
0.5,6,2
0.6000000000000001,6,2
0.6000000000000001,7,1
0.7000000000000001,7,1
0.7000000000000001,8,2
0.8,8,2
0.8,9,3
0.9,9,3
0.9,10,4
1.0,10,4
1.0,11,5

--- a-reset-from-around-waits-for-states-of-continuous-time simulate --stop 4 --intervals 4 --variables s.b.x ---
// s is reset at 2; b is left at 1.5 with x = 0.5, and begins at 0 again when entered without a reset at 3.
model M
  model S
    model A
      Real y(start = 0, fixed = true);
    equation
      der(y) = 1;
    end A;
    model B
      Real x(start = 0, fixed = true);
    equation
      der(x) = 1;
    end B;
    A a;
    B b;
  equation
    initialState(a);
    transition(a, b, time > 1 and time < 1.2 or time > 3, reset = false);
    transition(b, a, time > 1.5 and time < 1.7, reset = false);
  end S;
  S s;
equation
  initialState(s);
  transition(s, s, time > 2 and time < 2.1, reset = true);
end M;
--- expect ---
time,s.b.x
0.0,0.0
1.0,0.0
1.0,0.0
1.5,0.49999999999999956
1.5,0.49999999999999956
2.0,0.49999999999999956
2.0,0.0
2.1,0.0
2.1,0.0
3.0,0.0
3.0,0.0
4.0,0.9999999999999991

--- outputs-of-states-connected-to-one-signal simulate --stop 0.5 --intervals 1 --variables a.y,b.y,o,p ---
// The output of the active state counts (Modelica 3.6, 17.3.6).
model M
  connector IntegerOutput = output Integer;
  connector IntegerInput = input Integer;
  block A
    IntegerOutput y(start = 0);
  equation
    y = previous(y) + 1;
  end A;
  block B
    IntegerOutput y(start = 0);
  equation
    y = previous(y) - 1;
  end B;
  block Twice
    IntegerInput u;
    IntegerOutput y;
  equation
    y = 2*u;
  end Twice;
  A a;
  B b;
  Twice twice;
  IntegerOutput o, p;
  Integer g(start = 0);
equation
  when Clock(1, 10) then
    g = previous(g) + o;
  end when;
  connect(a.y, o);
  connect(b.y, o);
  connect(a.y, twice.u);
  connect(twice.y, p);
  initialState(a);
  transition(a, b, a.y >= 3, immediate = false);
  transition(b, a, b.y <= -2, immediate = false);
end M;
--- expect ---
time,a.y,b.y,o,p
0.0,1,0,1,2
0.1,1,0,1,2
0.1,2,0,2,4
0.2,2,0,2,4
0.2,3,0,3,6
0.30000000000000004,3,0,3,6
0.30000000000000004,3,-1,-1,-2
0.4,3,-1,-1,-2
0.4,3,-2,-2,-4
0.5,3,-2,-2,-4
0.5,1,-2,1,2
