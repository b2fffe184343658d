model StarOfDiodes "twenty phases behind ideal diodes feed one resistor: all but one of the diodes block"
  parameter Integer n = 20;
  Real s[n], v[n], i[n], vt;
  Boolean off[n];
equation
  for k in 1:n loop
    off[k] = s[k] < 0;
    v[k] = if off[k] then s[k] else 0;
    i[k] = if off[k] then 0 else s[k];
    v[k] = sin(time + 6.283185307179586*k/n) - vt;
  end for;
  vt = sum(i);
end StarOfDiodes;
