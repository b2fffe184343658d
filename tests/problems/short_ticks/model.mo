model ShortTicks "A run that is shorter than the rounding of numbers of order one"
  Integer n(start = 0, fixed = true);
equation
  when sample(0, 1e-18) then
    n = pre(n) + 1;
  end when;
end ShortTicks;
