model ClockResetsItself
  "A clock ticks when the angle has grown by 3 since the last tick: at 0.3, 0.6, 0.9; the tick makes its condition false"
  Real angle = 10*time;
  Boolean due = angle - last >= 3;
  Real taken = sample(angle, Clock(due));
  Real last = hold(taken);
end ClockResetsItself;
