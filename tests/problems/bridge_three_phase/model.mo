model Bridge3
  connector Pin Real v; flow Real i; end Pin;
  model Two Pin p,n; Real v,i; equation v=p.v-n.v; i=p.i; p.i+n.i=0; end Two;
  model D extends Two; Real s; Boolean off; equation off = s<0; v = if off then s else 0; i = if off then 0 else s; end D;
  model R extends Two; parameter Real R=1; equation v=R*i; end R;
  model C extends Two; parameter Real C=1; equation C*der(v)=i; end C;
  model L extends Two; parameter Real L=1; equation L*der(i)=v; end L;
  model V extends Two; parameter Real A=10; parameter Real w=6.283185307179586; equation v=A*sin(w*time); end V;
  model G Pin p; equation p.v=0; end G;
  model S extends Two; Boolean on; equation if on then v=0; else i=0; end if; end S;

  V3 a(ph=0),b(ph=-2.0943951023931953),c(ph=2.0943951023931953); D u1,u2,u3,l1,l2,l3; R load; G g;
  model V3 extends Two; parameter Real ph; equation v=10*sin(6.283185307179586*time+ph); end V3;
equation
  connect(a.n,g.p); connect(b.n,g.p); connect(c.n,g.p);
  connect(a.p,u1.p); connect(b.p,u2.p); connect(c.p,u3.p); connect(a.p,l1.n); connect(b.p,l2.n); connect(c.p,l3.n);
  connect(u1.n,load.p); connect(u2.n,load.p); connect(u3.n,load.p); connect(l1.p,load.n); connect(l2.p,load.n); connect(l3.p,load.n);
end Bridge3;
