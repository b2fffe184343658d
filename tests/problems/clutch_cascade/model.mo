model ClutchCascade "Closing one clutch makes the next one close, all in one instant"
  Real w1(start = 8, fixed = true), w2(start = 0, fixed = true), w3(start = 0, fixed = true), w4(start = 0, fixed = true);
  Real t12, t23, t34;
  Boolean c1(start = false, fixed = true), c2(start = false, fixed = true), c3(start = false, fixed = true);
equation
  der(w1) = -t12;
  der(w2) = t12 - t23;
  der(w3) = t23 - t34;
  der(w4) = t34;
  when time >= 1 then c1 = true; end when;
  when w2 > 3 then c2 = true; end when;
  when w3 > 2 then c3 = true; end when;
  if c1 then w1 = w2; else t12 = 0; end if;
  if c2 then w2 = w3; else t23 = 0; end if;
  if c3 then w3 = w4; else t34 = 0; end if;
end ClutchCascade;
