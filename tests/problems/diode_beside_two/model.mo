model DiodeBesideTwo "A diode (c) beside two in series (a, b), all ideal: how they share the current is open"
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  partial model Two
    Pin p, n;
    Real v, i;
  equation
    v = p.v - n.v;
    i = p.i;
    p.i + n.i = 0;
  end Two;
  model Resistor
    extends Two;
    parameter Real R;
  equation
    v = R*i;
  end Resistor;
  model Inductor
    extends Two(i(start = 0.4, fixed = true));
  equation
    1.622*der(i) = v;
  end Inductor;
  model Source
    extends Two;
  equation
    v = 12.2*sin(18.84955592153876*time + 3.141593);
  end Source;
  model Diode
    extends Two;
    Real s;
    Boolean off(start = true);
  equation
    off = s < 0;
    v = s*(if off then 1 else 0);
    i = s*(if off then 0 else 1);
  end Diode;
  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;
  Resistor r1(R = 254.7), r3(R = 367.5), r4(R = 379.4), r6(R = 410), lead(R = 0.55);
  Source source;
  Inductor inductor;
  Diode a, c, b;
  Ground g;
equation
  connect(source.n, lead.p);
  connect(r1.n, g.p);
  connect(r3.n, g.p);
  connect(r4.n, g.p);
  connect(r6.n, g.p);
  connect(a.p, g.p);
  connect(c.p, g.p);
  connect(r1.p, a.n);
  connect(r1.p, b.p);
  connect(r3.p, lead.n);
  connect(r3.p, c.n);
  connect(r3.p, b.n);
  connect(r4.p, inductor.n);
  connect(r6.p, source.p);
  connect(r6.p, inductor.p);
end DiodeBesideTwo;
