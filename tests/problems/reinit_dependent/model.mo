model ReinitDependent "New values for variables that follow from states: the states follow them"
  Real x(start = 1, fixed = true), y, u;
  Real w1(start = 1, fixed = true), w2, w3, t1, t2 "geared shafts";
equation
  der(x) = u;
  der(y) = 1 - u;
  y = 2*x;
  der(w1) = -t1;
  2*der(w2) = 2*t1 - t2;
  4*der(w3) = 3*t2;
  w1 = 2*w2;
  w2 = 3*w3;
  when time >= 0.5 then
    reinit(y, 10);
    reinit(w3, 1);
  end when;
end ReinitDependent;
