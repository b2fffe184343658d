model CapShare
  connector Pin Real v; flow Real i; end Pin;
  model Two Pin p,n; Real v,i; equation v=p.v-n.v; i=p.i; p.i+n.i=0; end Two;
  model D extends Two; Real s; Boolean off; equation off = s<0; v = if off then s else 0; i = if off then 0 else s; end D;
  model R extends Two; parameter Real R=1; equation v=R*i; end R;
  model C extends Two; parameter Real C=1; equation C*der(v)=i; end C;
  model L extends Two; parameter Real L=1; equation L*der(i)=v; end L;
  model V extends Two; parameter Real A=10; parameter Real w=6.283185307179586; equation v=A*sin(w*time); end V;
  model G Pin p; equation p.v=0; end G;
  model S extends Two; Boolean on; equation if on then v=0; else i=0; end if; end S;

  C c1(C=1,v(start=6,fixed=true)),c2(C=2,v(start=0,fixed=true)),c3(C=3,v(start=0,fixed=true)); S s1,s2; G g; R r(R=1);
equation
  s1.on = time>1; s2.on = time>2;
  connect(c1.n,g.p); connect(c2.n,g.p); connect(c3.n,g.p); connect(c1.p,s1.p); connect(s1.n,c2.p); connect(c2.p,s2.p); connect(s2.n,c3.p); connect(r.p,c3.p); connect(r.n,g.p);
end CapShare;
