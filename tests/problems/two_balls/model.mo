model TwoBalls
  Real h[2](each start=1,each fixed=true), v[2](each start=0,each fixed=true); parameter Real c[2]={0.5,0.8}; Integer n[2](each start=0,each fixed=true);
equation
  for i in 1:2 loop
   der(h[i])=v[i]; der(v[i])=-10;
   when h[i]<0 then reinit(v[i],-c[i]*pre(v[i])); n[i]=pre(n[i])+1; end when;
  end for;
end TwoBalls;
