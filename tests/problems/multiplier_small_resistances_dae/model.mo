model SmallResistances "A voltage multiplier whose diodes have resistances far below that of its source"
  parameter Integer n = 2;
  parameter Real C = 1e-4, Ron = 1e-5, Goff = 1e-5, Rsource = 0.1, Rload = 1e5;
  Real u = 10*sin(100*3.141592653589793*time);
  Real va[n](each start = 0, each fixed = true);
  Real vb[n](each start = 0, each fixed = true);
  Real ia[n + 1], ib[n + 1], a[n + 1], b[n + 1];
  Real s[n], r[n], up[n], on[n];
equation
  a[1] = u - Rsource*ia[1];
  b[1] = 0;
  ia[n + 1] = 0;
  ib[n + 1] = b[n + 1]/Rload;
  for k in 1:n loop
    a[k + 1] = a[k] - va[k];
    b[k + 1] = b[k] - vb[k];
    C*der(va[k]) = ia[k];
    C*der(vb[k]) = ib[k];
    b[k] - a[k + 1] = s[k]*(if s[k] < 0 then 1 else Ron);
    up[k] = s[k]*(if s[k] < 0 then Goff else 1);
    a[k + 1] - b[k + 1] = r[k]*(if r[k] < 0 then 1 else Ron);
    on[k] = r[k]*(if r[k] < 0 then Goff else 1);
    ia[k] + up[k] = on[k] + ia[k + 1];
    ib[k] + on[k] = ib[k + 1] + (if k < n then up[min(k + 1, n)] else 0);
  end for;
end SmallResistances;
