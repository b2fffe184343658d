model SensitivityBall "Sensitivities through impacts whose instants depend on the parameters"
  parameter Real g = 9.81;
  parameter Real e = 0.8;
  parameter Real h0 = 1;
  Real h(start = h0, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -g;
  when h <= 0 then
    reinit(v, -e*pre(v));
  end when;
end SensitivityBall;
