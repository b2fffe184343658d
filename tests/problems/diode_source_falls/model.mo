model DiodeSourceFalls "the source of a conducting diode steps down: the diode blocks, the capacitor keeps its charge"
  Real vs, vc(start = 2, fixed = true), i;
equation
  vs = if time < 1 then 2 else 1;
  der(vc) = i - vc/2;
  Saltus.complementarity(vc - vs, i);
end DiodeSourceFalls;
