model CartsPressed "A cart is pushed against another one: after infinitely many impacts they go on together, with the momentum they have"
  parameter Real m1 = 1, m2 = 2, e = 0.5, F = 3;
  Real x1(start = 0, fixed = true), x2(start = 1, fixed = true), v1(start = 0, fixed = true), v2(start = 0, fixed = true);
equation
  der(x1) = v1; der(x2) = v2; m1*der(v1) = F; m2*der(v2) = 0;
  when x1 >= x2 then
    reinit(v1, (m1*pre(v1) + m2*pre(v2) - m2*e*(pre(v1) - pre(v2)))/(m1 + m2));
    reinit(v2, (m1*pre(v1) + m2*pre(v2) + m1*e*(pre(v1) - pre(v2)))/(m1 + m2));
  end when;
end CartsPressed;
