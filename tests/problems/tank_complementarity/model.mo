model TankComplementarity "0 <= 0.3 - h, overflow >= 0"
  Real h(start=0,fixed=true), qo;
equation
  der(h) = 1 - time - qo;
  Saltus.complementarity(0.3 - h, qo);
end TankComplementarity;
