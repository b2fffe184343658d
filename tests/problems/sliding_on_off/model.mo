model SlidingOnOff "slides while the drive is weak, leaves when it is strong"
  Real x(start = 0.5, fixed = true);
equation
  der(x) = (if x > 0 then -1 else 1) + (if time < 2 then 0 else time - 2);
end SlidingOnOff;
