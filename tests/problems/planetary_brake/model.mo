model Planet "sun, ring, carrier; ring braked at 1, released at 2"
  parameter Real r=2; Real ws(start=5,fixed=true),wr(start=1,fixed=true),wc,ts,tr,tc,tb; Boolean brake;
equation
  brake = time>=1 and time<2;
  (1+r)*wc=ws+r*wr; tr=r*ts; tc=-(1+r)*ts;
  1*der(ws)=1+ts; 2*der(wr)=tr+tb; 3*der(wc)=tc;
  if brake then wr=0; else tb=0; end if;
end Planet;
