model PendulumPeg "A pendulum whose rope leans on a peg on one side: two circles, one after the other"
  parameter Real g = 9.81;
  Real x(start = -0.6, fixed = true), y(start = -0.8), vx, vy(start=0), T;
  Boolean peg(start = false, fixed = true);
initial equation
  vx = 0;
equation
  der(x) = vx; der(y) = vy;
  when x >= 0 then peg = true; elsewhen x < 0 then peg = false; end when;
  if peg then
    x^2 + (y + 0.5)^2 = 0.25;
    der(vx) = T*x; der(vy) = T*(y + 0.5) - g;
  else
    x^2 + y^2 = 1;
    der(vx) = T*x; der(vy) = T*y - g;
  end if;
end PendulumPeg;
