model BallsStacked "A ball comes to rest on another one that rests on the floor"
  parameter Real m1 = 2, m2 = 1, e = 0.5;
  Real x1(start = 1, fixed = true), x2(start = 1.5, fixed = true), v1(start = 0, fixed = true), v2(start = 0, fixed = true);
equation
  der(x1) = v1; der(x2) = v2; der(v1) = -9.81; der(v2) = -9.81;
  when x1 <= 0 then reinit(v1, -e*pre(v1)); end when;
  when x2 <= x1 then
    reinit(v1, (m1*pre(v1) + m2*pre(v2) - m2*e*(pre(v1) - pre(v2)))/(m1 + m2));
    reinit(v2, (m1*pre(v1) + m2*pre(v2) + m1*e*(pre(v1) - pre(v2)))/(m1 + m2));
  end when;
end BallsStacked;
