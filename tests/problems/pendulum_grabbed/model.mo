model PendulumGrabbed "A pendulum whose bob may not move vertically any more: stopped at once, and held"
  Real x(start = 1, fixed = true), y(start = 0), vx(start = 0), vy(start = 0, fixed = true), T, F;
  Boolean grab = time >= 0.4;
initial equation
  y = 0; vx = 0;
equation
  der(x) = vx; der(y) = vy;
  der(vx) = T*x;
  der(vy) = T*y - 9.81 + F;
  x^2 + y^2 = 1;
  if grab then vy = 0; else F = 0; end if;
end PendulumGrabbed;
