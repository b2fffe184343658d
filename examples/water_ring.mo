model WaterRing "A closed loop of water: a pump, two headers, 25 parallel pipes; the flow reverses"
  parameter Integer n = 25 "pipes, three conditions each; the pump has one more";
  parameter Boolean forced = false "branches are written into one residual, by if-expressions";
  parameter Real turbulent = 0.05 "flow above which the loss is quadratic";
  parameter Real V = 20 "mass of water in a header";
  Real m[n](each start = 0, each fixed = true) "flow from header a to header b";
  Real loss[n] "pressure lost in a pipe";
  Real Tin[n] "temperature of what enters a pipe";
  Real Ea[n] "enthalpy that a pipe brings to header a";
  Real Eb[n] "enthalpy that a pipe brings to header b";
  Real T[n](each start = 300, each fixed = true) "temperature in a pipe";
  Real Ta(start = 310, fixed = true) "temperature in header a";
  Real Tb(start = 290, fixed = true) "temperature in header b";
  Real M "flow through the pump, from b to a";
  Real dp "pressure difference between the headers";
protected
  parameter Real r[n] = {1 + 0.1*k for k in 1:n};
equation
  M = sum(m);
  if forced then
    dp = 2*sin(0.7*time) - (if M > 0 then 0.1*M^2 else -0.1*M^2);
    for k in 1:n loop
      loss[k] = if m[k] > turbulent then r[k]*m[k]^2
        elseif m[k] < -turbulent then -r[k]*m[k]^2
        else r[k]*turbulent*m[k];
      Tin[k] = if m[k] > 0 then Ta else Tb;
      Ea[k] = if m[k] > 0 then 0 else -m[k]*(T[k] - Ta);
      Eb[k] = if m[k] > 0 then m[k]*(T[k] - Tb) else 0;
    end for;
  else
    if M > 0 then
      dp = 2*sin(0.7*time) - 0.1*M^2;
    else
      dp = 2*sin(0.7*time) + 0.1*M^2;
    end if;
    for k in 1:n loop
      if m[k] > turbulent then
        loss[k] = r[k]*m[k]^2;
      elseif m[k] < -turbulent then
        loss[k] = -r[k]*m[k]^2;
      else
        loss[k] = r[k]*turbulent*m[k];
      end if;
      if m[k] > 0 then
        Tin[k] = Ta;
        Ea[k] = 0;
        Eb[k] = m[k]*(T[k] - Tb);
      else
        Tin[k] = Tb;
        Ea[k] = -m[k]*(T[k] - Ta);
        Eb[k] = 0;
      end if;
    end for;
  end if;
  for k in 1:n loop
    (0.5 + 0.02*k)*der(m[k]) = dp - loss[k];
    2*der(T[k]) = noEvent(abs(m[k]))*(Tin[k] - T[k]) - 0.01*(T[k] - 295 - k);
  end for;
  V*der(Ta) = sum(Ea) - 0.5*(Ta - 310);
  V*der(Tb) = sum(Eb) - 0.5*(Tb - 290);
  annotation(experiment(StopTime = 40));
end WaterRing;
