model SampleMeetsState "a sample and a state event at the same instant are one event"
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
equation
  der(x) = 1;
  when x >= 0.5 then
    n = pre(n) + 1;
    reinit(x, 0);
  end when;
  when sample(0.5, 0.5) then
    m = pre(m) + 1;
  end when;
end SampleMeetsState;
