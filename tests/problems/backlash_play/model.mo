model BacklashPlay "play of width 0.4 driven by a sine"
  Real u = sin(time);
  Real y(start = 0, fixed = true);
  Boolean up, down;
equation
  up = u - y >= 0.2 and der(u) > 0;
  down = y - u >= 0.2 and der(u) < 0;
  der(y) = if up or down then der(u) else 0;
end BacklashPlay;
