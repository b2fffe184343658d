model Gearbox
  Integer gear;
  Real w1(start=9,fixed=true), w2(start=0,fixed=true), tau1, tau2, r;
equation
  gear = if time < 1 then 0 elseif time < 2 then 1 elseif time < 3 then 0 else 2;
  der(w1) = tau1;
  4*der(w2) = tau2;
  if gear == 0 then
    tau1 = 0; tau2 = 0; r = 0;
  elseif gear == 1 then
    r = 3; w1 = r*w2; tau2 = -r*tau1;
  else
    r = 1; w1 = r*w2; tau2 = -r*tau1;
  end if;
end Gearbox;
