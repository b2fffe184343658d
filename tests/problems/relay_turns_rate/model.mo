model RelayTurnsRate "a relay that leaves the rate of its own function to another one: turns around where both are zero"
  Real x0(start=0.340561320918068,fixed=true);
  Real x1(start=0.7570299458249821,fixed=true);
  Real x2(start=0.8360476131513568,fixed=true);
  Real g0; Real s0;
  Real g1; Real s1;
  Real g2; Real s2;
  Real g3; Real s3;
  Real g4; Real s4;
equation
  g0 = (1.0)*x0 + (-0.18739231756316643);
  s0 = sign(g0);
  g1 = (1.0)*x0 + (-0.15992226697093392)*x1 + (-0.27225475679620353) + 0.37596469312493136*sin(1.4786493095087212*time);
  s1 = if g1 > 0 then 1 else -1;
  g2 = (1.0)*x0 + (-0.03711115163765322) + 0.3904093409160176*sin(1.0234992093928568*time);
  s2 = sign(g2);
  g3 = (-0.004886391347673658)*x1 + (1.0)*x2 + (0.007377216702335709);
  s3 = if g3 > 0 then 1 else -1;
  g4 = (1.0)*x0 + (0.501774331786933)*x1 + (0.27725866847346475);
  s4 = sign(g4);
  der(x0) = (-0.8272763065409514)*x0 + (-0.7243668075717429)*x1 + (-0.1865394771818465) + (-1.3376641180350202)*s0 + (-2.111981888092586)*s1 + (-1.8129348295957617)*s3 + (-1.8694855943724946)*s4;
  der(x1) = (-0.5251499964616909)*x1 + (-0.31271361628945904) + (1.9997816322535558)*s2;
  der(x2) = (1.0)*x0 + (-0.5644528187728126)*x2 + (0.08976970757260205);
  when time >= 0.7039867960535702 then
    reinit(x2, x2 + 0.43306907371607595);
  end when;
end RelayTurnsRate;
