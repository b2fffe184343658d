model AlgorithmFeedback "an algorithm's relation decides its own derivative"
  Real x(start = 1, fixed = true), e, u;
algorithm
  e := x - 0.5;
  if e > 0 then
    u := -1;
  else
    u := -0.1*x;
  end if;
equation
  der(x) = u;
end AlgorithmFeedback;
