connector Pin
  Real v; flow Real i;
end Pin;
model Ground
  Pin p;
equation
  p.v=0;
end Ground;
model TwoPin
  Pin p, n; Real v, i;
equation
  v=p.v-n.v; i=p.i; p.i+n.i=0;
end TwoPin;
model Resistor
  extends TwoPin; parameter Real R=1;
equation
  v=R*i;
end Resistor;
model Inductor
  extends TwoPin; parameter Real L=1;
equation
  L*der(i)=v;
end Inductor;
model Capacitor
  extends TwoPin; parameter Real C=1;
equation
  C*der(v)=i;
end Capacitor;
model Diode
  extends TwoPin; parameter Real Ron=1e-5, Goff=1e-5; Boolean off(start=true); Real s(start=0);
equation
  off = s<0;
  v = s*(if off then 1 else Ron); i = s*(if off then Goff else 1);
end Diode;
model IdealDiode
  extends TwoPin; Boolean off(start=true); Real s(start=0);
equation
  off = s<0;
  v = if off then s else 0; i = if off then 0 else s;
end IdealDiode;
model Thyristor
  extends TwoPin; parameter Real Ron=1e-5, Goff=1e-5; Boolean off(start=true,fixed=true); Boolean fire; Real s(start=0);
equation
  off = s<0 or pre(off) and not fire;
  v = s*(if off then 1 else Ron); i = s*(if off then Goff else 1);
end Thyristor;
model Source
  extends TwoPin; parameter Real V=1,f=50,phi=0;
equation
  v=V*sin(2*3.141592653589793*f*time+phi);
end Source;
model ThyristorHalf
  Source s(V=10); Thyristor t; Resistor r(R=1); Ground g;
equation
  t.fire = mod(time,0.02) >= 0.005 and mod(time,0.02)<0.006;
  connect(s.p,t.p); connect(t.n,r.p); connect(r.n,g.p); connect(s.n,g.p);
end ThyristorHalf;
