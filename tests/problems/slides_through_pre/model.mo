model SlidesThroughPre "The field reads what a condition was: the same after the event, so that the solution slides all the same"
  Real x(start = 0, fixed = true);
  Boolean b(start = false, fixed = true);
equation
  b = not (x <= 1);
  der(x) = if pre(b) then -0.5 else (if time < 2 then 1.0 else -1.0);
end SlidesThroughPre;
