model RefusedImpulseCubed "Joining the shafts takes an impulse of tau, which stands in a third power"
  Real w1(start = 2, fixed = true), w2(start = 0, fixed = true), tau;
equation
  der(w1) = -tau^3;
  der(w2) = tau;
  if time >= 1 then w1 = w2; else tau = 0; end if;
end RefusedImpulseCubed;
