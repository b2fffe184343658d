model VaryingClockParts
  "A clock of growing interval (ticks at 0, 0.2, 0.5, 0.9, 1.4, 2, …) super-sampled, shifted by parts of its interval, back again"
  Integer n(start = 1);
  Real t;
  Clock c = Clock(n, 10);
  Integer quarters(start = 0) "Ticks of a clock four times as fast";
  Real fast "When it ticked last", step "and how long after the tick before";
  Real third, lag "A third of an interval later";
  Real earlier "A sixth of it before that";
  Real slow "Every third of the quarters";
  Real count = hold(quarters), atFast = hold(fast), byFast = hold(step), atThird = hold(third);
  Real behind = hold(lag), seen = hold(earlier), atSlow = hold(slow);
equation
  when c then
    n = previous(n) + 1;
    t = sample(time);
  end when;
  when superSample(c, 4) then
    quarters = previous(quarters) + 1;
    fast = sample(time);
    step = interval();
  end when;
  when shiftSample(c, 1, 3) then
    third = sample(time);
    lag = third - shiftSample(t, 1, 3);
  end when;
  earlier = backSample(third, 1, 6);
  when subSample(superSample(c, 4), 3) then
    slow = sample(time);
  end when;
end VaryingClockParts;
