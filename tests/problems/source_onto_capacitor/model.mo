model SourceOntoCapacitor
  Real vc(start=0,fixed=true), i, vs;
  Boolean on;
equation
  on = time >= 1 and time < 2;
  vs = 5 + time;
  2*der(vc) = i - vc;
  if on then vc = vs; else i = 0; end if;
end SourceOntoCapacitor;
