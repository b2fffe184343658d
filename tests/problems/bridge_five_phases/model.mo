model BridgeFivePhases "ten ideal diodes: at the start two of them conduct, and no current says which"
  parameter Integer n = 5;
  constant Real pi = 3.14159265358979323846;
  Real v[n], i[n], j[n], u, w, iL(start = 0, fixed = true);
equation
  for k in 1:n loop
    v[k] = 10*sin(time - 2*pi*(k - 1)/n);
    Saltus.complementarity(u - v[k], i[k]);
    Saltus.complementarity(v[k] - w, j[k]);
  end for;
  sum(i) = iL;
  sum(j) = iL;
  0.5*der(iL) = u - w - iL;
end BridgeFivePhases;
