model InductorStar "Cut set of inductors: three currents, two states, and the star point's voltage from a derivative"
  parameter Real L = 0.1, R = 2;
  parameter Real U[3] = {10, 4, -2};
  Real i[3](each start = 0), v0;
equation
  for k in 1:3 loop
    U[k] - v0 = R*i[k] + L*der(i[k]);
  end for;
  i[1] + i[2] + i[3] = 0;
initial equation
  i[1] = 0;
  i[2] = 0;
end InductorStar;
