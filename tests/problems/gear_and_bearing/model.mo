model GearAndBearing "A bearing and a gear whose friction grows with the torque that it transmits, on one shaft"
  parameter Real most = 0.5, low = 0.5;
  Real w(start = 0, fixed = true);
  Real drive = 10*sin(6.283185307179586*time), load = 2.5*time - 10;
  Real tb "Bearing", ta "Transmitted", tg "Lost in the gear", sb, sg, upper, lower;
  Boolean driving, fb, bb, lb, fg, bg, lg;
  Integer mb(start = 3, fixed = true), mg(start = 0, fixed = true);
equation
  der(w) = drive - tb - ta;
  0.375*der(w) = ta - tg + load/2;

  fb = pre(mb) == 0 and (sb > most or pre(fb) and sb > low) or initial() and w > 0;
  bb = pre(mb) == 0 and (sb < -most or pre(bb) and sb < -low) or initial() and w < 0;
  lb = not (pre(mb) == 1 or fb or pre(mb) == -1 or bb);
  der(w) = if lb then 0 else if fb or pre(mb) == 1 then sb - most else sb + most;
  tb = if lb then sb else if fb or pre(mb) == 1 then 0.5 + 0.5*abs(w) else -0.5 - 0.5*abs(w);
  mb = if (pre(mb) == 1 or fb) and w > 0 then 1 else if (pre(mb) == -1 or bb) and w < 0 then -1 else 0;

  driving = ta >= 0;
  upper = if driving then 0.5*ta else -ta;
  lower = if driving then -ta else 0.5*ta;
  fg = pre(mg) == 0 and sg > (if noEvent(ta > 0) then 0.5*ta else -ta) or initial() and w > 0;
  bg = pre(mg) == 0 and sg < (if noEvent(ta > 0) then -ta else 0.5*ta) or initial() and w < 0;
  lg = not (pre(mg) == 1 or fg or pre(mg) == -1 or bg);
  tg = if lg then sg else if fg or pre(mg) == 1 then upper else lower;
  der(w) = if lg then 0 else sg - tg;
  mg = if (pre(mg) == 1 or fg) and w > 0 then 1 else if (pre(mg) == -1 or bg) and w < 0 then -1 else 0;
end GearAndBearing;
