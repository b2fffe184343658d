model AlgorithmLoop "a relation per pass of a loop; what stands in noEvent makes none"
  Real x(start = 0, fixed = true), v[3], s, z(start = 0, fixed = true);
equation
  der(x) = 1;
  der(z) = s;
algorithm
  s := 0;
  for i in 1:3 loop
    v[i] := x*i;
    if v[i] > 1.001 then
      s := s + i;
    end if;
    if noEvent(v[i] > 2) then
      s := s + 0;
    end if;
  end for;
end AlgorithmLoop;
