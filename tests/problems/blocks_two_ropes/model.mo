model BlocksTwoRopes "Three masses in a row; both ropes between them become taut at one instant"
  parameter Real m1 = 1, m2 = 2, m3 = 1, L = 1;
  Real x1(start = 0, fixed = true), x2(start = 0, fixed = true), x3(start = 0, fixed = true);
  Real v1(start = 2, fixed = true), v2(start = 1, fixed = true), v3(start = 0, fixed = true);
  Real F12, F23;
  Boolean t12(start = false, fixed = true), t23(start = false, fixed = true);
equation
  der(x1) = v1; der(x2) = v2; der(x3) = v3;
  m1*der(v1) = -F12;
  m2*der(v2) = F12 - F23;
  m3*der(v3) = F23;
  when x1 - x2 >= L then t12 = true; end when;
  when x2 - x3 >= L then t23 = true; end when;
  if t12 then x1 - x2 = L; else F12 = 0; end if;
  if t23 then x2 - x3 = L; else F23 = 0; end if;
end BlocksTwoRopes;
