model SuperTwisting "w follows -d once x = 0 has been wound into, and again after a kick"
  Real x(start = 1, fixed = true);
  Real w(start = 0, fixed = true);
  Real d = 0.5*sin(time);
equation
  der(x) = -3*sqrt(abs(x))*sign(x) + w + d;
  der(w) = -2*sign(x);
  when time >= 3 then
    reinit(w, 1);
  end when;
end SuperTwisting;
