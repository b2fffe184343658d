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
