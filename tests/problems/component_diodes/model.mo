connector Pin Real v; flow Real i; end Pin;
model Ground Pin p; equation p.v = 0; end Ground;
model Src Pin p, n; equation p.i + n.i = 0; p.v - n.v = 5*sin(time - 1); end Src;
model Cap parameter Real C = 1; parameter Real v0 = 0; Pin p, n; Real v(start=v0, fixed=true); equation v = p.v - n.v; p.i + n.i = 0; C*der(v) = p.i; end Cap;
model Res parameter Real R = 1; Pin p, n; equation p.v - n.v = R*p.i; p.i + n.i = 0; end Res;
model Diode Pin p, n; Real s; Boolean off; equation p.i + n.i = 0; off = s < 0; p.v - n.v = if off then s else 0; p.i = if off then 0 else s; end Diode;
model ComponentDiodes
  Cap c(C=0.1); Res r(R=20); Diode d; Src u; Ground g;
equation
  connect(u.p, d.p); connect(d.n, c.p); connect(c.p, r.p);
  connect(u.n, g.p); connect(c.n, g.p); connect(r.n, g.p);
end ComponentDiodes;
