model FrictionDependent "Friction between two masses and to the ground: three surfaces that meet in a line"
  Real v1(start = 3, fixed = true);
  Real v2(start = 0, fixed = true);
equation
  der(v1) = -0.5*sign(v1 - v2) - 0.7*sign(v1) + sin(time);
  der(v2) = 0.5*sign(v1 - v2) - 0.4*sign(v2) + cos(2*time);
end FrictionDependent;
