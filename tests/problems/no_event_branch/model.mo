model PumpStops "A condition with noEvent is read as it stands, not held until the next event"
  Real w, dp, V = 1;
  Real x(start = 0, fixed = true);
equation
  w = if time < 1 then 1 - time else 0;
  if noEvent(abs(w) < 1e-60) then
    dp = 0;
  else
    dp = w^2*(1 - V/(V + w))/w;
  end if;
  der(x) = dp;
end PumpStops;
