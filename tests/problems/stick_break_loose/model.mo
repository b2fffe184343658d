model StickBreakLoose "Breaks loose to the negative side: sign(v) stands for two relations of the same function"
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -x - 3.7*sin(0.6*time) - 1.19*sign(v);
end StickBreakLoose;
