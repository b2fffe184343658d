model FastSensor "The rate of a fast lag amplifies the errors of its state"
  parameter Real e = 1e-5;
  Real x(start = -e/(1 + e^2), fixed = true);
  Real rate = (sin(time) - x)/e;
  discrete Real last(start = 0, fixed = true);
  Integer n(start = 0, fixed = true), up(start = 0, fixed = true);
equation
  der(x) = rate;
  when rate < 0.5 then
    n = pre(n) + 1;
    last = time;
  end when;
  when rate > 0.5 then
    up = pre(up) + 1;
  end when;
end FastSensor;
