model RestPulse "A ball that rests is lifted by a short pulse of force"
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -10 + 40*exp(-((time - 5)/0.1)^2);
  when h <= 0 and v < 0 then
    reinit(v, -0.5*pre(v));
  end when;
end RestPulse;
