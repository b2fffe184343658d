model HysteresisEquation "Two-point control written as an equation with memory: not a sliding mode"
  Real T(start = 20, fixed = true);
  Boolean on(start = true);
equation
  der(T) = (if on then 2 else 0) - 0.05*(T - 5);
  on = T < 19 or pre(on) and T < 21;
end HysteresisEquation;
