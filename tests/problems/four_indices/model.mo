model FourIndices "Arrays of if-equations over an enumeration: free, imposed speed, imposed place, damped"
  type M = enumeration(free, speed, place, off);
  M m;
  Real x[2](start={0,1}, each fixed=true), v[2](start={1,-1}, each fixed=true), F[2];
equation
  m = if time < 1 then M.free elseif time < 2 then M.speed elseif time < 3 then M.place else M.off;
  for k in 1:2 loop
    der(x[k]) = v[k];
    k*der(v[k]) = F[k];
    if m == M.free then F[k] = 0;
    elseif m == M.speed then v[k] = 2*k;
    elseif m == M.place then x[k] = k*time;
    else F[k] = -v[k]; end if;
  end for;
end FourIndices;
