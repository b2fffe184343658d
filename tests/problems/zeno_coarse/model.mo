model ZenoCoarse "The accumulation point at a coarse tolerance: bounces become smaller than what is resolved"
  Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h <= 0 and v < 0 then
    reinit(v, -0.5*pre(v));
  end when;
end ZenoCoarse;
