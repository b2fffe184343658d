model TerminalSliding "a surface with a root in its function: the origin is reached in finite time, and the surface is steep there"
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
  Real s = v + sqrt(abs(x))*sign(x);
equation
  der(x) = v;
  der(v) = -3*sign(s) + 0.5*sin(time);
end TerminalSliding;
