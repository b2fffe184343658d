model SampledAtStart "the first sample is taken at the start: x is multiplied by 1 - p*h from one to the next"
  parameter Real p = 0.3;
  Real x(start = 1, fixed = true);
  discrete Real u(start = 0, fixed = true);
equation
  when sample(0, 0.25) then
    u = p*x;
  end when;
  der(x) = -u;
end SampledAtStart;
