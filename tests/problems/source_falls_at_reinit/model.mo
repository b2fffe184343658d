model SourceFallsAtReinit "a constraint moves at the instant of an unrelated reinit: both take effect"
  Real vs, vc(start = 2, fixed = true), i, z(start = 0, fixed = true);
equation
  vs = if time < 1 then 2 else 1;
  der(vc) = i - vc/2;
  der(z) = 1;
  Saltus.complementarity(vc - vs, i);
  when time >= 1 then reinit(z, 10); end when;
end SourceFallsAtReinit;
