model CapacitorsSeriesPair "Two capacitors in series are switched onto a third one; then that loop opens while the third is shorted"
  parameter Real C1 = 1, C2 = 2, C3 = 3;
  Real v1(start = 5, fixed = true), v2(start = -1, fixed = true), v3(start = 0, fixed = true);
  Real i, ig;
  Boolean s = time >= 1 and time < 2;
  Boolean g = time >= 2;
equation
  C1*der(v1) = i;
  C2*der(v2) = i;
  C3*der(v3) = -i - ig;
  if s then v1 + v2 = v3; else i = 0; end if;
  if g then v3 = 0; else ig = 0; end if;
end CapacitorsSeriesPair;
