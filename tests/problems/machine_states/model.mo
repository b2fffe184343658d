model MachineStates
  "Counts up by 2 until past 10, then down by 1 until below 1; one step a second: 2, 4, …, 12, 11, …, 0, 2, …"
  inner Integer i(start = 0);
  model Up
    outer output Integer i;
  equation
    i = previous(i) + 2;
  end Up;
  model Down
    outer output Integer i;
  equation
    i = previous(i) - 1;
  end Down;
  Up up;
  Down down;
  Boolean rising = activeState(up);
equation
  initialState(up);
  transition(up, down, i > 10, immediate = false);
  transition(down, up, i < 1, immediate = false);
end MachineStates;
