model StickSlipLong "Sticks for most of each period: nothing moves, and breaking loose is over within a long step"
  Real v(start = 0, fixed = true), x(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = sin(time) - 0.9*sign(v);
end StickSlipLong;
