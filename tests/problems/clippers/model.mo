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
model Clippers
  parameter Integer N=20; Source s(V=20,f=1); Resistor r[N](each R=1); Diode d[N]; Ground g; Real itot;
equation
  connect(s.n,g.p);
  for k in 1:N loop connect(s.p,r[k].p); connect(r[k].n,d[k].p); connect(d[k].n,g.p); end for;
  itot=sum(d.i);
end Clippers;
