model TerminateLevel "ends the run where a level is reached"
  Real h(start = 0, fixed = true);
equation
  der(h) = 1 - 0.5*h;
  when h > 1 then
    terminate("full");
  end when;
end TerminateLevel;
