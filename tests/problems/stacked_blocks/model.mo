model TwoBallsComp "two blocks stacked: lower hits floor, upper hits lower"
  Real h1(start=1,fixed=true),h2(start=2.5,fixed=true),v1(start=0,fixed=true),v2(start=0,fixed=true),N1,N2;
equation
  der(h1)=v1; der(h2)=v2; 1*der(v1)=-10+N1-N2; 2*der(v2)=-20+N2;
  Saltus.complementarity(N1,h1); Saltus.complementarity(N2,h2-h1-1);
end TwoBallsComp;
