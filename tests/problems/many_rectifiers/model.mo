model ManyRectifiers "twenty half-wave rectifiers whose capacitors are charged at the start: no diode conducts there"
  parameter Integer n = 20;
  Real vc[n](start = {0.04*k for k in 1:n}, each fixed = true), i[n], s[n];
  Boolean off[n];
equation
  for k in 1:n loop
    der(vc[k]) = i[k] - vc[k];
    off[k] = s[k] < 0;
    sin(time) - vc[k] = if off[k] then s[k] else 0;
    i[k] = if off[k] then 0 else s[k];
  end for;
end ManyRectifiers;
