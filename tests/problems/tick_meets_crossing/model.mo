model TickMeetsCrossing "a time event and a state event at the same instant are one, within the errors of the integration"
  Real x(start = 0, fixed = true), y(start = 1, fixed = true);
  Integer n(start = 0, fixed = true), k(start = 0, fixed = true);
equation
  der(x) = 1;
  der(y) = -y;
  when {sample(0.5, 0.5), x >= 0.5} then n = pre(n) + 1; end when;
  when {time >= 0.75, y*y <= exp(-1.5)} then k = pre(k) + 1; end when;
end TickMeetsCrossing;
