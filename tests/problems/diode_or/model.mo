model DiodeOr "A sine and a constant source through ideal diodes onto one capacitor: the larger one conducts"
  Real x(start = 0.5, fixed = true), i, j, s, r;
equation
  der(x) = -1 + i + j;
  sin(time) - x = if s < 0 then s else 0;
  i = if s < 0 then 0 else s;
  0.5 - x = if r < 0 then r else 0;
  j = if r < 0 then 0 else r;
end DiodeOr;
