model MachineBall "Falls, then lies still: what moves in one state is a constant of the other"
  inner Real h(start = 1, fixed = true);
  inner Real v(start = 0, fixed = true);
  model Flying
    outer output Real h;
    outer output Real v;
  equation
    der(h) = v;
    der(v) = -9.81;
  end Flying;
  model Resting
    outer output Real h;
    outer output Real v;
  equation
    h = 0;
    v = 0;
  end Resting;
  Flying fly;
  Resting rest;
equation
  initialState(fly);
  transition(fly, rest, h <= 0);
end MachineBall;
