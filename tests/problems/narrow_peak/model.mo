model NarrowPeak "A function of a state is positive for a six-hundredth of the run, with a coarse tolerance"
  Real x(start = 0, fixed = true), z(start = 0, fixed = true), g;
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
equation
  der(x) = 1;
  g = exp(-1e6*(x - 0.4321)^2) - 0.5;
  der(z) = if g > 0 then 1 else 0;
  when g > 0 then
    n = pre(n) + 1;
  end when;
  when g < 0 then
    m = pre(m) + 1;
  end when;
end NarrowPeak;
