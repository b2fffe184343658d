model NarrowSpike "A function that is no polynomial of the step rises above its threshold for a hundredth of a thousandth of a step"
  Real x(start = 0, fixed = true);
  Real y;
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  y = exp(-((x - 3.21)/1e-4)^2);
  when y > 0.5 then
    n = pre(n) + 1;
  end when;
end NarrowSpike;
