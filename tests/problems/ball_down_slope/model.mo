model BallDownSlope "A ball bounces on a slope without friction, comes to rest on it and slides down"
  parameter Real a = 0.5, e = 0.6;
  Real x(start = 0, fixed = true), y(start = 1, fixed = true), vx(start = 0, fixed = true), vy(start = 0, fixed = true);
  Real gap, vn;
equation
  der(x) = vx; der(y) = vy; der(vx) = 0; der(vy) = -9.81;
  gap = x*sin(a) + y*cos(a);
  vn = vx*sin(a) + vy*cos(a);
  when not gap > 0 then
    reinit(vx, pre(vx) - (1 + e)*pre(vn)*sin(a));
    reinit(vy, pre(vy) - (1 + e)*pre(vn)*cos(a));
  end when;
end BallDownSlope;
