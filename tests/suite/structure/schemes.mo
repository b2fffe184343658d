Execution schemes in the form of the MODRIO document: figures 2.2, 2.4, 2.5, 2.7, 2.8 and 2.9.

--- figure-2-2-pendulum analyze --schemes ---
model Pendulum
  Real x, y, T;
equation
  der(der(x)) = T*x;
  der(der(y)) = T*y - 9.81;
  x^2 + y^2 = 1;
end Pendulum;
--- expect ---
execution scheme of Pendulum
  (e1) der(der(x)) = T*x
  (e2) der(der(y)) = T*y - 9.81
  (e3) x^2 + y^2 = 1
1. Assuming consistent values for x, y, x•, y•:
2. solve for x•2, T, y•2 the block of equations {e1, e2, e3•2};
3. Move to the next instant.

--- figure-2-4-cup-and-ball-fails-without-shifts analyze --shifts 0 ---
model CupAndBall
  Real x, y, T;
  Boolean gamma;
equation
  der(der(x)) = T*x;
  der(der(y)) = T*y - 9.81;
  gamma = x^2 + y^2 >= 1;
  if gamma then
    x^2 + y^2 = 1;
  else
    T = 0;
  end if;
end CupAndBall;
--- expect ---
execution scheme of CupAndBall
  (e1) der(der(x)) = T*x
  (e2) der(der(y)) = T*y - 9.81
  (e3) T = 0
  (e4) x^2 + y^2 = 1
1. Assuming consistent values for x, y, x•, y•:
2. Case:
  (a) gamma = true:
    i. regard (e3) as dead code;
    ii. failure to solve [e4]: nothing is left to solve it for;
    iii. failure to solve for x•2, T, y•2 the block of equations {e1, e2};
  (b) gamma = false:
    i. regard (e4) as dead code;
    ii. solve [e3] for T;
    iii. solve [e1] for x•2;
    iv. solve [e2] for y•2;
3. Move to the next instant.

--- figure-2-5-cup-and-ball analyze --schemes ---
model CupAndBall
  Real x, y, T;
  Boolean gamma;
equation
  der(der(x)) = T*x;
  der(der(y)) = T*y - 9.81;
  gamma = x^2 + y^2 >= 1;
  if gamma then
    x^2 + y^2 = 1;
  else
    T = 0;
  end if;
end CupAndBall;
--- expect ---
execution scheme of CupAndBall
  (e1) der(der(x)) = T*x
  (e2) der(der(y)) = T*y - 9.81
  (e3) T = 0
  (e4) x^2 + y^2 = 1
1. Assuming consistent values for x, y, x•, y•:
2. Case:
  (a) gamma = true:
    i. regard (e3) as dead code;
    ii. solve for x•2, T, y•2 the block of equations {e1, e2, e4•2};
  (b) gamma = false:
    i. regard (e4) as dead code;
    ii. solve [e3] for T;
    iii. solve [e1] for x•2;
    iv. solve [e2] for y•2;
3. Move to the next instant.

--- figure-2-7-clutch-fails-without-shifts analyze --shifts 0 ---
model Clutch
  Real u1, u2, c1, c2;
  Boolean gamma;
equation
  der(u1) = c1 - u1;
  der(u2) = c2 - u2;
  gamma = time > 1;
  if gamma then
    u1 = u2;
    c1 + c2 = 0;
  else
    c1 = 0;
    c2 = 0;
  end if;
end Clutch;
--- expect ---
execution scheme of Clutch
  (e1) der(u1) = c1 - u1
  (e2) der(u2) = c2 - u2
  (e3) c1 = 0
  (e4) u1 = u2
  (e5) c1 + c2 = 0
  (e6) c2 = 0
1. Assuming consistent values for u1, u2:
2. Case:
  (a) gamma = true:
    i. regard (e3, e6) as dead code;
    ii. failure to solve [e4]: nothing is left to solve it for;
    iii. failure to solve for u1•, c1, u2•, c2 the block of equations {e1, e2, e5};
  (b) gamma = false:
    i. regard (e4, e5) as dead code;
    ii. solve [e3] for c1;
    iii. solve [e1] for u1•;
    iv. solve [e6] for c2;
    v. solve [e2] for u2•;
3. Move to the next instant.

--- figure-2-8-clutch analyze --schemes ---
model Clutch
  Real u1, u2, c1, c2;
  Boolean gamma;
equation
  der(u1) = c1 - u1;
  der(u2) = c2 - u2;
  gamma = time > 1;
  if gamma then
    u1 = u2;
    c1 + c2 = 0;
  else
    c1 = 0;
    c2 = 0;
  end if;
end Clutch;
--- expect ---
execution scheme of Clutch
  (e1) der(u1) = c1 - u1
  (e2) der(u2) = c2 - u2
  (e3) c1 = 0
  (e4) u1 = u2
  (e5) c1 + c2 = 0
  (e6) c2 = 0
1. Assuming consistent values for u1, u2:
2. Case:
  (a) gamma = true:
    i. regard (e3, e6) as dead code;
    ii. solve for u1•, c1, u2•, c2 the block of equations {e1, e2, e4•, e5};
  (b) gamma = false:
    i. regard (e4, e5) as dead code;
    ii. solve [e3] for c1;
    iii. solve [e1] for u1•;
    iv. solve [e6] for c2;
    v. solve [e2] for u2•;
3. Move to the next instant.

--- figure-2-9-unilateral-constraint-lacks-an-equation analyze --schemes ---
model Unilateral
  Real x, u;
  Boolean gamma;
equation
  der(x) = u - x;
  gamma = 0 >= x - 1;
  if gamma then
    x = 1;
  end if;
end Unilateral;
--- expect ---
execution scheme of Unilateral
  (e1) der(x) = u - x
  (e2) x = 1
1. Assuming consistent values for x:
2. Case:
  (a) gamma = true:
    i. solve [e2•] for x•;
    ii. solve [e1] for u;
  (b) gamma = false:
    i. regard (e2) as dead code;
    ii. failure to solve for x•, u the block of equations {e1};
3. Move to the next instant.

--- two-switches-determine-one-variable-twice check ---
model TwoSwitches
  Real v, i1, i2, u1, u2;
  Boolean s1(start = false, fixed = true), s2(start = false, fixed = true);
  Real t1(start = 0, fixed = true);
equation
  der(t1) = 1;
  when t1 > 1 then s1 = not pre(s1); end when;
  when t1 > 2 then s2 = not pre(s2); end when;
  if s1 then v = 1; else i1 = 0; end if;
  if s2 then v = 2; else i2 = 0; end if;
  u1 = i1 + i2;
  u2 = v + i1 - 2*i2 + u1;
  v = 1 - i1 - i2;
end TwoSwitches;
--- expect ---
TwoSwitches: no errors, 1 warning

--- an-assertion-excludes-the-singular-mode check ---
model TwoSwitches
  Real v, i1, i2;
  Boolean s1(start = false, fixed = true), s2(start = false, fixed = true);
  Real t1(start = 0, fixed = true);
equation
  der(t1) = 1;
  assert(not (s1 and s2), "one switch at a time");
  when t1 > 1 then s1 = not pre(s1); end when;
  when t1 > 2 then s2 = not pre(s2); end when;
  if s1 then v = 1; else i1 = 0; end if;
  if s2 then v = 2; else i2 = 0; end if;
  v = 1 - i1 - i2;
end TwoSwitches;
--- expect ---
TwoSwitches: no errors

--- a-variable-that-appears-without-a-value check ---
model Appears
  Real x(start = 1, fixed = true), z(start = 2);
equation
  der(x) = -x;
  if time >= 1 then der(z) = z; end if;
end Appears;
--- expect ---
Appears: no errors, 1 warning

--- a-reinit-says-where-it-begins check ---
model Appears
  Real x(start = 1, fixed = true), z(start = 2);
equation
  der(x) = -x;
  when time >= 1 then reinit(z, x); end when;
  if time >= 1 then der(z) = z; end if;
end Appears;
--- expect ---
Appears: no errors

--- relations-of-opposite-sign-exclude-each-other check ---
model Opposite
  Real m, h, a, b, E(start = 0, fixed = true);
equation
  m = sin(time);
  semiLinear(-m, a, 10) + semiLinear(m, a, h) = 0;
  semiLinear(m, b, 20) + semiLinear(-m, b, h) = 0;
  semiLinear(m, a, h) + semiLinear(-m, b, h) = 0;
  der(E) = m*h;
end Opposite;
--- expect ---
Opposite: no errors

--- a-dummy-equation-is-dropped-where-the-others-suffice analyze --schemes ---
model Unilateral
  Real x, u;
  Boolean gamma;
equation
  der(x) = u - x;
  gamma = 0 >= x - 1;
  if gamma then
    x = 1;
  end if;
  Saltus.dummy(u - 2);
end Unilateral;
--- expect ---
execution scheme of Unilateral
  (e1) der(x) = u - x
  (e2) x = 1
  (e3) u = 2   (dummy)
1. Assuming consistent values for x:
2. Case:
  (a) gamma = true:
    i. regard (e3) as dead code;
    ii. solve [e2•] for x•;
    iii. solve [e1] for u;
  (b) gamma = false:
    i. regard (e2) as dead code;
    ii. solve [e3] for u;
    iii. solve [e1] for x•;
3. Move to the next instant.

--- it-completes-the-mode check ---
model Unilateral
  Real x(start = 2, fixed = true), u;
  Boolean low(start = false, fixed = true);
equation
  der(x) = u - 1;
  when x <= 1 then low = true; end when;
  if low then x = 1; end if;
  Saltus.dummy(u);
end Unilateral;
--- expect ---
Unilateral: no errors

--- it-does-not-help-a-mode-with-too-many-equations error check ---
model M
  Real x(start = 2, fixed = true), u;
equation
  der(x) = u;
  u = 1;
  if time > 1 then x = 1; end if;
  Saltus.dummy(u);
end M;
--- expect ---
exit: 4
error: the model is structurally singular in the mode time > 1 = true: 2 equations for 1 unknowns; determined more than once: x
--> model.mo:4:3

--- an-invariant-over-an-enumeration check ---
model M
  type Gear = enumeration(low, high, park);
  Gear gear(start = Gear.low, fixed = true);
  Real v, i1, i2, c(start = 0, fixed = true);
  Boolean brake(start = false, fixed = true);
equation
  der(c) = 1;
  when c > 1 then gear = Gear.high; end when;
  when c > 2 then brake = true; end when;
  assert(not brake or gear == Gear.high, "the brake wants the high gear");
  if gear == Gear.low then v = 1; elseif gear == Gear.park then v = 3; else i1 = 0; end if;
  if brake then v = 2; else i2 = 0; end if;
  v = 1 - i1 - i2;
end M;
--- expect ---
M: no errors

--- without-it-the-modes-are-warned-of check ---
model M
  type Gear = enumeration(low, high, park);
  Gear gear(start = Gear.low, fixed = true);
  Real v, i1, i2, c(start = 0, fixed = true);
  Boolean brake(start = false, fixed = true);
equation
  der(c) = 1;
  when c > 1 then gear = Gear.high; end when;
  when c > 2 then brake = true; end when;
  if gear == Gear.low then v = 1; elseif gear == Gear.park then v = 3; else i1 = 0; end if;
  if brake then v = 2; else i2 = 0; end if;
  v = 1 - i1 - i2;
end M;
--- expect ---
M: no errors, 2 warnings

--- a-mode-that-time-leads-into-is-an-error error check ---
model M
  Real v, i1, i2;
equation
  if time > 1 then v = 1; else i1 = 0; end if;
  if time > 2 then v = 2; else i2 = 0; end if;
  v = 1 - i1 - i2;
end M;
--- expect ---
exit: 4
error: the model is structurally singular in the mode time > 1 = true, time > 2 = true: 3 equations for 3 unknowns; not determined: i1, i2; determined more than once: v
--> model.mo:4:20

--- an-under-specified-change-is-named error simulate --stop 2 ---
model M
  Real x(start = 1, fixed = true), z;
equation
  der(x) = -x;
  if x < 0.5 then der(z) = z; end if;
  assert(time < 1, "end");
end M;
--- expect ---
exit: 6
is under-specified: z is a state there and has no value before
--> model.mo:2:36
error: assertion failed at time 1.0: end
--> model.mo:6:3

--- changes-without-end-are-reported error simulate --stop 2 ---
model M
  Real x(start = 1, fixed = true), u;
  Boolean a(start = false, fixed = true);
equation
  der(x) = u;
  a = if time < 1 then false else not pre(a);
  if a then x = 1; else u = -1; end if;
end M;
--- expect ---
exit: 6
error: at time 1.0 the modes change without end; no consistent mode among: a = false | a = true | a = false | a = true | a = false | a = true

--- a-guard-that-depends-on-what-it-guards-is-shown-as-a-circle error simulate ---
model M
  Real x, y(start = 1, fixed = true);
  Boolean g = x > 1;
equation
  der(y) = -y;
  if g then x = y - 0.5; else x = y + 1; end if;
end M;
--- expect ---
exit: 5
no consistent values of g
the circle: g ⇒ the branches that hold ⇒ x ⇒ g
