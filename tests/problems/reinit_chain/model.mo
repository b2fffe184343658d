model ReinitChain "one reinit sets off the next, at one instant"
  Real x(start = 0, fixed = true), y(start = 0, fixed = true), z(start = 0, fixed = true);
equation
  der(x) = 1;
  der(y) = 0;
  der(z) = 0;
  when x > 0.5 then
    reinit(x, 0);
    reinit(y, pre(y) + 1);
  end when;
  when y > 1.5 then
    reinit(y, 0);
    reinit(z, pre(z) + 1);
  end when;
end ReinitChain;
