model SpeedThenPlace "A force, then an imposed speed, then an imposed position: index 1, 2, 3"
  parameter Real m = 2;
  Real x(start = 0, fixed = true), v(start = 0, fixed = true), F;
  Integer mode = if time < 1 then 0 elseif time < 2 then 1 else 2;
equation
  der(x) = v;
  m*der(v) = F;
  if mode == 0 then F = 1;
  elseif mode == 1 then v = 3;
  else x = 3.25 + 0.5*(time - 2) ; end if;
end SpeedThenPlace;
