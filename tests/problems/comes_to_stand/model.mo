model ComesToStand "Double integrators whose curves of switching, x + c v |v| = 0, lead to the origin in a finite time: they stay there"
  model Integrator
    parameter Real c;
    input Real push;
    Real x(start = 1, fixed = true), v(start = 0, fixed = true), s;
  equation
    der(x) = v;
    s = x + c*v*abs(v);
    der(v) = push - (if s > 0 then 1 else -1);
  end Integrator;
  Integrator optimal(c = 0.5, push = 0) "time-optimal: along the curve by one side alone";
  Integrator slides(c = 1, push = 0) "slides in";
  Integrator pushed(c = 1, push = if time > 3 then 2 else 0) "is pushed off again";
  Integrator turns(c = 0.4446, push = 0) "Fuller: turns ever faster, shrinking by the same factor";
end ComesToStand;
