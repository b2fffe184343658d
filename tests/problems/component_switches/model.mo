connector Pin Real v; flow Real i; end Pin;
model Ground Pin p; equation p.v = 0; end Ground;
model Cap parameter Real C = 1; parameter Real v0 = 0; Pin p, n; Real v(start=v0, fixed=true); equation v = p.v - n.v; p.i + n.i = 0; C*der(v) = p.i; end Cap;
model Res parameter Real R = 1; Pin p, n; equation p.v - n.v = R*p.i; p.i + n.i = 0; end Res;
model Switch Pin p, n; Boolean closed; equation p.i + n.i = 0; if closed then p.v = n.v; else p.i = 0; end if; end Switch;
model ComponentSwitches
  Cap c1(C=1, v0=10), c2(C=3, v0=2); Res r1(R=2), r2(R=4); Switch s; Ground g;
equation
  connect(c1.p, r1.p); connect(c1.p, s.p); connect(s.n, c2.p); connect(c2.p, r2.p);
  connect(c1.n, g.p); connect(r1.n, g.p); connect(c2.n, g.p); connect(r2.n, g.p);
  s.closed = time >= 1 and time < 2;
end ComponentSwitches;
