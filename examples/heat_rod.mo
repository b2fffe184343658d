model HeatRod "Heat conduction in a rod, cut into N cells; one end is heated, the other one loses heat"
  parameter Integer N = 50 "number of cells";
  parameter Real L(unit = "m") = 1 "length";
  parameter Real a(unit = "m2/s") = 1e-4 "thermal diffusivity";
  parameter Real k(unit = "W/(m.K)") = 400 "thermal conductivity";
  parameter Real h(unit = "W/(m2.K)") = 500 "heat transfer coefficient at the free end";
  parameter Real T0(unit = "K") = 293.15 "temperature at the start and around the rod";
  parameter Real TL(unit = "K") = 373.15 "temperature at the heated end";
  final parameter Real dx(unit = "m") = L/N "length of a cell";
  Real T[N](each unit = "K", each start = T0, each fixed = true) "temperature in the middle of each cell";
  Real q[N + 1](each unit = "W/m2") "heat flow density between the cells";
equation
  q[1] = k*(TL - T[1])/(dx/2);
  for i in 2:N loop
    q[i] = k*(T[i - 1] - T[i])/dx;
  end for;
  q[N + 1] = (T[N] - T0)/(1/h + dx/2/k);
  for i in 1:N loop
    der(T[i]) = a/k*(q[i] - q[i + 1])/dx;
  end for;
  annotation(experiment(StopTime = 5000, Interval = 10, Tolerance = 1e-6));
end HeatRod;
