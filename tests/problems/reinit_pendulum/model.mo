model ReinitPendulum "A pendulum in Cartesian coordinates bounces off a wall: reinit sets velocities that are not states"
  Real x(start = 0.6, fixed = true), y(start = -0.8), vx(start = 0, fixed = true), vy, T;
  Integer n(start = 0, fixed = true);
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -T*x;
  der(vy) = -T*y - 9.81;
  x^2 + y^2 = 1;
  when x <= -0.1 then
    reinit(vx, -pre(vx));
    reinit(vy, -pre(vy));
    n = pre(n) + 1;
  end when;
end ReinitPendulum;
