model ClutchOverloaded "A clutch of limited friction slips, sticks by itself, and slips again under load"
  Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), tau, load;
  Boolean stuck(start = false, fixed = true);
  parameter Real tmax = 2;
equation
  load = if time > 8 then 10 else 0;
  2*der(w1) = -tau;
  1*der(w2) = tau - load;
  when w1 - w2 <= 0 and not pre(stuck) then stuck = true; elsewhen abs(tau) > tmax and pre(stuck) then stuck = false; end when;
  if stuck then w1 = w2; else tau = tmax*(if w1 > w2 or not (w1 < w2) and load > 0 then 1 else -1); end if;
end ClutchOverloaded;
