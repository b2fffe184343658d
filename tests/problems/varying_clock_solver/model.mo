model VaryingClockSolver
  "Decay integrated on clocks whose intervals double: one of them twice as fast, one half an interval later"
  Real h(start = 0.1);
  Integer n(start = 1);
  Real x(start = 1), y(start = 1);
  Clock c = Clock(h) "Ticks at 0, 0.1, 0.3, 0.7, 1.5";
  Clock d = Clock(n, 10) "Ticks at 0, 0.2, 0.6, 1.4";
  Real held = hold(x), late = hold(y);
equation
  when c then
    h = 2*previous(h);
  end when;
  when Clock(superSample(c, 2), "ExplicitEuler") then
    der(x) = -x;
  end when;
  when d then
    n = 2*previous(n);
  end when;
  when Clock(shiftSample(d, 1, 2), "ImplicitEuler") then
    der(y) = -y;
  end when;
end VaryingClockSolver;
