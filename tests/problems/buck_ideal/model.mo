model Buck
  connector Pin Real v; flow Real i; end Pin;
  model Two Pin p,n; Real v,i; equation v=p.v-n.v; i=p.i; p.i+n.i=0; end Two;
  model D extends Two; Real s; Boolean off; equation off = s<0; v = if off then s else 0; i = if off then 0 else s; end D;
  model R extends Two; parameter Real R=1; equation v=R*i; end R;
  model C extends Two; parameter Real C=1; equation C*der(v)=i; end C;
  model L extends Two; parameter Real L=1; equation L*der(i)=v; end L;
  model V extends Two; parameter Real A=10; parameter Real w=6.283185307179586; equation v=A*sin(w*time); end V;
  model G Pin p; equation p.v=0; end G;
  model S extends Two; Boolean on; equation if on then v=0; else i=0; end if; end S;

  Src src; S sw; D d; L l(L=1e-3,i(start=0,fixed=true)); C c(C=1e-3,v(start=0,fixed=true)); R r(R=2); G g;
  model Src extends Two; equation v=12; end Src;
equation
  sw.on = mod(time,1e-3)<0.5e-3;
  connect(src.n,g.p); connect(src.p,sw.p); connect(sw.n,l.p); connect(d.n,sw.n); connect(d.p,g.p); connect(l.n,c.p); connect(c.n,g.p); connect(r.p,c.p); connect(r.n,g.p);
end Buck;
