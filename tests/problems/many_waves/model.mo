model ManyWaves "A fast wave of the solution of an equation touches its threshold again and again within a step"
  Real x(start = 1, fixed = true);
  Real m, y;
  Integer n(start = 0, fixed = true);
equation
  der(x) = -0.1*x;
  m + 0.1*m^3 = x;
  y = sin(400*m);
  when y > 0.9999 then
    n = pre(n) + 1;
  end when;
end ManyWaves;
