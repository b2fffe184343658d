model DelayStart "A delayed value begins with the first value of what it delays"
  Real x = time + 1;
  Real y = delay(x, 0.5);
end DelayStart;
