model ReinitAgainstDiode "a conducting diode lets go of a capacitor that is charged from outside, and holds one that is discharged"
  Real vs = 2, vc(start = 2, fixed = true), i;
equation
  der(vc) = i - vc/2;
  Saltus.complementarity(vc - vs, i);
  when time >= 1 then reinit(vc, 5); end when;
  when time >= 4 then reinit(vc, 1); end when;
end ReinitAgainstDiode;
