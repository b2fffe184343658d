model MachineHeldOutput "A state that says nothing about an output: it keeps its last value; the lower priority number wins"
  inner Real u;
  inner Real z(start = 0, fixed = true);
  model A
    outer output Real u;
  equation
    u = 3*time;
  end A;
  model B
    Real q(start = 0, fixed = true);
  equation
    der(q) = 1;
  end B;
  model C
    outer output Real u;
  equation
    u = -1;
  end C;
  A a;
  B b;
  C c;
equation
  der(z) = u;
  initialState(a);
  transition(a, c, time >= 1, priority = 2);
  transition(a, b, time >= 1, priority = 1);
  transition(b, c, b.q >= 0.5);
end MachineHeldOutput;
