model DiodeStar "24 ideal diodes with small resistances feed one load"
  parameter Integer n = 24;
  constant Real pi = 3.141592653589793;
  Real u[n], s[n], i[n], v;
  Boolean off[n];
equation
  for k in 1:n loop
    u[k] = (1 + 0.3*cos(3*k))*sin(time + 2*pi*k/n);
    off[k] = s[k] < 0;
    u[k] - v = if off[k] then s[k] else 0.05*s[k];
    i[k] = if off[k] then 0 else s[k];
  end for;
  sum(i) = v;
end DiodeStar;
