model MachineNested "A machine inside a state: it waits with its state, and a reset takes all of it back"
  model Work
    model P
      Real x(start = 0, fixed = true);
    equation
      der(x) = 1;
    end P;
    P p1, p2;
    Integer n(start = 0, fixed = true);
    Real y;
  equation
    y = p1.x + 10*p2.x;
    initialState(p1);
    transition(p1, p2, timeInState() >= 0.3, reset = false);
    transition(p2, p1, timeInState() >= 0.2, reset = false);
    when p1.x > 0.4 then n = pre(n) + 1; end when;
  end Work;
  model Pause
    Real z(start = 0, fixed = true);
  equation
    der(z) = 1;
  end Pause;
  Work work; Pause pause;
  Real out = 2*work.y;
equation
  initialState(work);
  transition(work, pause, timeInState() >= 0.95);
  transition(pause, work, pause.z >= 0.5, reset = true);
end MachineNested;
