model CupAndBall "A ball on a rope: it falls freely until the rope is taut, and swings afterwards"
  parameter Real L(unit = "m") = 1 "length of the rope";
  parameter Real g(unit = "m/s2") = 9.81 "acceleration of gravity";
  Real x(unit = "m", start = 0.4, fixed = true) "horizontal position";
  Real y(unit = "m", start = 0.5, fixed = true) "vertical position";
  Real vx(unit = "m/s", start = 1.5, fixed = true);
  Real vy(unit = "m/s", start = 0, fixed = true);
  Real T(unit = "1/s2") "force in the rope per length and mass; negative when it pulls";
  Boolean taut(start = false, fixed = true) "the rope is stretched";
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = T*x;
  der(vy) = T*y - g;
  when x^2 + y^2 >= L^2 then
    taut = true;
  end when;
  if taut then
    // The rope takes the radial part of the speed by an impulse of T; what is left is a pendulum.
    x^2 + y^2 = L^2;
  else
    T = 0;
  end if;
  annotation(experiment(StopTime = 3, Interval = 0.01, Tolerance = 1e-8));
end CupAndBall;
