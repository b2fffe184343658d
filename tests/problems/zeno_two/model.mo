model ZenoTwo
  Real h[2](start={1,2},each fixed=true), v[2](each start=0,each fixed=true);
equation
  for i in 1:2 loop
   der(h[i])=v[i]; der(v[i])=-10;
   when h[i]<=0 then reinit(v[i],-0.5*pre(v[i])); end when;
  end for;
end ZenoTwo;
