model RefusedThreeLoop "three clutches in a ring: one too many"
  Real w1(start=1,fixed=true), w2(start=2,fixed=true), w3(start=3,fixed=true), a, b, c;
  Boolean on;
equation
  on = time >= 1;
  der(w1) = a - c; der(w2) = b - a; der(w3) = c - b;
  if on then w1 = w2; w2 = w3; w3 = w1; else a = 0; b = 0; c = 0; end if;
end RefusedThreeLoop;
