model MachineClutch "A clutch as a state machine: open for 1 s, closed for 0.5 s, and so on"
  inner Real w1(start = 10, fixed = true), w2(start = 0, fixed = true);
  inner Real tau1, tau2;
  model Open
    outer Real tau1, tau2;
  equation
    tau1 = 0; tau2 = 0;
  end Open;
  model Closed
    outer Real w1, w2, tau1, tau2;
  equation
    w1 = w2; tau1 + tau2 = 0;
  end Closed;
  Open open; Closed closed;
  Boolean engaged = activeState(closed);
equation
  der(w1) = tau1 - 0.1*w1;
  2*der(w2) = tau2;
  initialState(open);
  transition(open, closed, timeInState() >= 1);
  transition(closed, open, timeInState() >= 0.5);
end MachineClutch;
