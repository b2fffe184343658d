model SlidesBesidePendulum "A pendulum goes over the top, and changes its states, while another state slides and a ball rests"
  Real s(start = 1, fixed = true), z(start = 0, fixed = true);
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Real x(start = 1, fixed = true), y(start = 0), vx(start = 0), vy(start = 5, fixed = true), T;
equation
  der(s) = (if s > 0 then -1 else 1) + 0.5*sin(time);
  der(z) = if s > 0 then 1 else 0;
  der(h) = v;
  der(v) = -9.81;
  when h <= 0 then reinit(v, -0.7*pre(v)); end when;
  der(x) = vx;
  der(y) = vy;
  der(vx) = -T*x;
  der(vy) = -T*y - 1;
  x^2 + y^2 = 1;
end SlidesBesidePendulum;
