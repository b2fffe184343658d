model BridgeRC
  connector Pin Real v; flow Real i; end Pin;
  model Two Pin p,n; Real v,i; equation v=p.v-n.v; i=p.i; p.i+n.i=0; end Two;
  model D extends Two; Real s; Boolean off; equation off = s<0; v = if off then s else 0; i = if off then 0 else s; end D;
  model R extends Two; parameter Real R=1; equation v=R*i; end R;
  model C extends Two; parameter Real C=1; equation C*der(v)=i; end C;
  model L extends Two; parameter Real L=1; equation L*der(i)=v; end L;
  model V extends Two; parameter Real A=10; parameter Real w=6.283185307179586; equation v=A*sin(w*time); end V;
  model G Pin p; equation p.v=0; end G;
  model S extends Two; Boolean on; equation if on then v=0; else i=0; end if; end S;

  V src; D d1,d2,d3,d4; R load; C c(v(start=0,fixed=true)); G g;
equation
  connect(src.p,d1.p); connect(src.p,d2.n); connect(src.n,d3.p); connect(src.n,d4.n);
  connect(d1.n,load.p); connect(d3.n,load.p); connect(load.n,d2.p); connect(load.n,d4.p); connect(load.n,g.p); connect(c.p,load.p); connect(c.n,load.n);
end BridgeRC;
