model ClutchEnum
  type Mode = enumeration(Open, Slip, Locked);
  Real w1(start=10,fixed=true), w2(start=0,fixed=true), tau;
  Mode m;
equation
  m = if time < 1 then Mode.Open elseif time < 2 then Mode.Slip else Mode.Locked;
  der(w1) = -tau;
  3*der(w2) = tau;
  if m == Mode.Open then tau = 0; elseif m == Mode.Slip then tau = 0.5*(w1-w2); else w1 = w2; end if;
end ClutchEnum;
