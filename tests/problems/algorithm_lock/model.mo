model AlgorithmLock
  Real x, y;
algorithm
  x := time;
  if x>0.505 then y := 1; else y := 0; end if;
end AlgorithmLock;
