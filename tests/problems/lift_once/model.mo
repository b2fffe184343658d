model LiftOnce "One reset to near an equilibrium is no accumulation of events"
  Real x(start = 0.5, fixed = true);
  Boolean lit(start = false, fixed = true);
  parameter Real e = 1e-6;
equation
  der(x) = (if not lit then 2 elseif time < 2 then 3 - e else 0) - x;
  when x >= 1 then
    reinit(x, 3);
    lit = true;
  end when;
end LiftOnce;
