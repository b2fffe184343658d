model DummyInput "Above its stop the input of x is free: a dummy equation says what to take for it"
  Real x(start = 1.5, fixed = true), u;
  Boolean low(start = false, fixed = true);
equation
  der(x) = u - 1;
  when {x <= 1, time >= 3} then
    low = time < 3;
  end when;
  if low then
    x = 1;
  end if;
  Saltus.dummy(u - 0.5*x);
end DummyInput;
