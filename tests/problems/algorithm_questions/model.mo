model AlgorithmQuestions "relations in an algorithm over what it has assigned so far"
  Real x(start = 0, fixed = true), a, y, z;
  Integer n;
  Boolean b;
equation
  der(x) = 1;
algorithm
  a := x*x;
  if a > 0.25 then
    y := 1;
  elseif a > 0.09 then
    y := 0.5;
  else
    y := 0;
  end if;
  n := integer(a*4);
  b := a > 0.64;
  a := a + 1;
  z := if a > 1.36 then (if sqrt(a - 1.36) > 0.2 then 3 else 2) else 1;
end AlgorithmQuestions;
