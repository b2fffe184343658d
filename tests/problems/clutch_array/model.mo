model ClutchArray
  parameter Integer n = 4;
  Real w[n](start={4,0,2,-6}, each fixed=true), tau[n+1];
  Boolean on[n-1];
equation
  tau[1] = 0; tau[n+1] = 0;
  for i in 1:n loop der(w[i]) = tau[i] - tau[i+1]; end for;
  for i in 1:n-1 loop
    on[i] = time >= i and time < i + 1.5;
    if on[i] then w[i] = w[i+1]; else tau[i+1] = 0; end if;
  end for;
end ClutchArray;
