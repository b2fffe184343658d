model BouncingBall "A ball falls on a hard floor; each impact keeps a part of the speed"
  parameter Real e = 0.8 "coefficient of restitution";
  parameter Real g(unit = "m/s2") = 9.81 "acceleration of gravity";
  Real h(unit = "m", start = 1, fixed = true) "height above the floor";
  Real v(unit = "m/s", start = 0, fixed = true) "upward speed";
  Integer bounces(start = 0, fixed = true) "impacts so far";
equation
  der(h) = v;
  der(v) = -g;
  when h <= 0 and v < 0 then
    reinit(v, -e*pre(v));
    bounces = pre(bounces) + 1;
  end when;
  annotation(experiment(StopTime = 3, Interval = 0.01, Tolerance = 1e-8));
end BouncingBall;
