model Revisit "20 shafts, 19 clutches; three of them toggled for ever: eight modes, visited again and again"
  parameter Integer n = 20;
  Real w[n](each start = 1, each fixed = true);
  Real tau[n + 1];
  Boolean on[n - 1];
equation
  tau[1] = 0;
  tau[n + 1] = 0;
  for i in 1:n loop
    (1 + 0.1*i)*der(w[i]) = tau[i] - tau[i + 1] + sin(time + i);
  end for;
  for i in 1:n - 1 loop
    if on[i] then w[i] = w[i + 1]; else tau[i + 1] = 0; end if;
  end for;
  for i in 1:n - 1 loop
    on[i] = if i == 4 then mod(time, 0.2) > 0.1
      elseif i == 9 then mod(time, 0.3) > 0.17
      elseif i == 15 then mod(time, 0.5) > 0.2
      else mod(i, 3) == 0 and time > 0.05;
  end for;
end Revisit;
