model ClutchThree
  Real w1(start=6,fixed=true), w2(start=0,fixed=true), w3(start=-2,fixed=true), t12, t23, h;
  Boolean a, b;
equation
  a = time >= 1; b = time >= 2 and time < 3;
  1*der(w1) = 1 - t12;
  2*der(w2) = t12 - t23;
  3*der(w3) = t23;
  if a then w1 = w2; else t12 = 0; end if;
  if b then w2 = w3; else t23 = 0; end if;
  h = w1 + 2*w2 + 3*w3;
end ClutchThree;
