model InductorsSeries "two coils put in series keep their flux"
  Real i1(start=4,fixed=true), i2(start=1,fixed=true), v1, v2;
  Boolean s;
equation
  s = time >= 1;
  2*der(i1) = v1;
  3*der(i2) = v2;
  if s then i1 = i2; v1 + v2 = 0; else v1 = 0; v2 = 0; end if;
end InductorsSeries;
