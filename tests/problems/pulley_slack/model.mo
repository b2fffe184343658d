model Pulley "two masses over a pulley; the rope goes slack when one rests on the floor and is taut again"
  Real x1(start=1,fixed=true),v1(start=0,fixed=true),x2(start=1,fixed=true),v2(start=0,fixed=true),T,N;
equation
  der(x1)=v1; der(x2)=v2; 2*der(v1)=T+N-20; 1*der(v2)=T-10;
  Saltus.complementarity(N,x1);
  Saltus.complementarity(T,x1+x2-2);
end Pulley;
