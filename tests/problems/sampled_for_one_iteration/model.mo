model Ticks "sample() is true in the first iteration of its event alone: a Boolean that follows it rises and falls in one instant"
  Boolean b = sample(0.25, 0.25), c = change(b), rise = edge(b), fall = edge(up), up = not b;
  Integer changes(start = 0, fixed = true), rises(start = 0, fixed = true), falls(start = 0, fixed = true);
  Integer later(start = 0, fixed = true), unchanged(start = 0, fixed = true), back(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
  Boolean reached(start = false, fixed = true);
  Integer late(start = 0, fixed = true), same(start = 0, fixed = true), before(start = 0, fixed = true);
equation
  when c then changes = pre(changes) + 1; end when;
  when rise then rises = pre(rises) + 1; end when;
  when fall then falls = pre(falls) + 1; end when;
  when pre(b) then later = pre(later) + 1; end when;
  when not c then unchanged = pre(unchanged) + 1; end when;
  when not pre(b) then back = pre(back) + 1; end when;
  der(x) = 1;
  when time >= 0.5 then
    reinit(x, 2);
    reached = true;
  end when;
  // The reset comes with the second iteration, in which sample() is false.
  when sample(0.5, 1) and x > 1 then late = pre(late) + 1; end when;
  when sample(0.5, 1) and reached then same = pre(same) + 1; end when;
  when sample(0.5, 1) and pre(reached) then before = pre(before) + 1; end when;
end Ticks;
