model TinyCrossing "a picogram that halves: nominal values say what small means"
  Real m(start = 1e-12, fixed = true, nominal = 1e-12);
  Integer n(start = 0, fixed = true);
equation
  der(m) = -m;
  when m < 0.5e-12 then
    n = pre(n) + 1;
  end when;
end TinyCrossing;
