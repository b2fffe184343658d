model AlgorithmTimer "an instant that the section itself has set"
  Real x(start = 0, fixed = true), y, z(start = 0, fixed = true);
  discrete Real t_next(start = 10, fixed = true);
equation
  der(x) = 1;
  der(z) = y;
algorithm
  when x > 0.2 then
    t_next := time + 0.3;
  end when;
  if time >= t_next then
    y := 1;
  else
    y := 0;
  end if;
end AlgorithmTimer;
