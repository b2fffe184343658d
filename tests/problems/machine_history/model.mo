model MachineHistory "A heats and B cools; A goes on where it was, B begins anew each time"
  model Heat
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
  end Heat;
  model Cool
    Real y(start = 5, fixed = true);
    Real z;
  equation
    der(y) = -2*y;
    z = y + time;
  end Cool;
  Heat a;
  Cool b;
equation
  initialState(a);
  transition(a, b, timeInState() >= 1, reset = true);
  transition(b, a, b.y <= 1, reset = false);
end MachineHistory;
