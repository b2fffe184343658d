model FlowAtRest "Enthalpy carried by a flow that stops and turns round; at rest the pipe's enthalpy is determined by nothing"
  Real m, h, ha, hb, HL, Ha, Hb, HR;
  Real E(start = 0, fixed = true);
equation
  m = if time < 1 then 1 else if time < 2 then 0 else -1;
  HL = semiLinear(-m, ha, 10);
  Ha = semiLinear(m, ha, h);
  HL + Ha = 0;
  Hb = semiLinear(-m, hb, h);
  Ha + Hb = 0;
  HR = semiLinear(m, hb, 20);
  HR + Hb = 0;
  der(E) = Ha;
end FlowAtRest;
