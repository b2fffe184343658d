model SwitchAndFreewheel "A switch feeds a coil; while it is open an ideal diode carries the current"
  Real iL(start = 0, fixed = true), v, is, id, sd, vs;
  Boolean on = time < 1 or time >= 2;
equation
  der(iL) = v - 0.5*iL;
  is + id = iL;
  if on then v = 10; else is = 0; end if;
  -v = if sd < 0 then sd else 0;
  id = if sd < 0 then 0 else sd;
  vs = 10 - v;
end SwitchAndFreewheel;
