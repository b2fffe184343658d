model GearThenBrake "A gear of ratio 3 engages, a brake stops both shafts, then lets go"
  Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), t1, t2, tb;
  parameter Real n = 3;
  Boolean on = time >= 1;
  Boolean brake = time >= 2 and time < 3;
equation
  der(w1) = t1 + 0.5;
  4*der(w2) = t2 + tb;
  if on then w1 = n*w2; t2 = -n*t1; else t1 = 0; t2 = 0; end if;
  if brake then w2 = 0; else tb = 0; end if;
end GearThenBrake;
