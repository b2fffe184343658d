model SliderCrankForced "Planar closed loop: the constraint of the rod is differentiated twice for the force on the piston"
  parameter Real r = 0.5, l = 1.3, m = 0.7;
  Real phi, theta(start = 0), s(start = 1.8), v, F;
  Real xp, yp;
equation
  phi = 2*time;
  xp = r*cos(phi);
  yp = r*sin(phi);
  yp + l*sin(theta) = 0;
  s = xp + l*cos(theta);
  der(s) = v;
  m*der(v) = F;
end SliderCrankForced;
