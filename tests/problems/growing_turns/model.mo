model GrowingTurns "turns around the origin that begin below the absolute tolerance: H, the next swing of x, goes by 7/5 each half turn"
  Real x(start = 1e-9, fixed = true);
  Real v(start = 0, fixed = true);
  Real H = abs(x) + v^2/2/(if x*v > 0 then 2.5 else 3.5);
equation
  der(x) = v;
  der(v) = -3*sign(x) + 0.5*sign(v);
end GrowingTurns;
