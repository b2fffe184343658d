model ResidualConditional
  Real x(start=0,fixed=true);
equation
  0 = if time < 1 then der(x) - 2 else x - 7;
end ResidualConditional;
