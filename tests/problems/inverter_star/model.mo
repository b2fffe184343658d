// A two-level inverter of ideal switches with diodes across them; a resistive load in star without a neutral wire. At the start
// all lower switches are closed, then the legs are switched one after the other.
model InverterStar
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  partial model TwoPin
    Pin p, n;
    Real v, i;
  equation
    v = p.v - n.v;
    i = p.i;
    p.i + n.i = 0;
  end TwoPin;
  partial model Switching
    extends TwoPin;
    Real s;
    Boolean off;
  equation
    v = s*(if off then 1 else 1e-5);
    i = s*(if off then 1e-5 else 1);
  end Switching;
  model Diode
    extends Switching;
  equation
    off = s < 0;
  end Diode;
  model Thyristor
    extends Switching;
    input Boolean fire;
  equation
    off = s < 0 or not fire;
  end Thyristor;
  model Source
    extends TwoPin;
  equation
    v = 50;
  end Source;
  model Resistor
    extends TwoPin;
  equation
    v = 100*i;
  end Resistor;
  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;
  Ground ground;
  Source upper, lower;
  Thyristor tp[3], tn[3];
  Diode dp[3], dn[3];
  Resistor load[3];
equation
  connect(upper.n, lower.p);
  connect(upper.n, ground.p);
  for k in 1:3 loop
    connect(upper.p, tp[k].p);
    connect(tp[k].n, tn[k].p);
    connect(tn[k].n, lower.n);
    connect(dp[k].n, upper.p);
    connect(dp[k].p, tp[k].n);
    connect(dn[k].n, tn[k].p);
    connect(dn[k].p, lower.n);
    connect(load[k].p, tp[k].n);
    tp[k].fire = time > k;
    tn[k].fire = not time > k;
  end for;
  connect(load[1].n, load[2].n);
  connect(load[2].n, load[3].n);
end InverterStar;
