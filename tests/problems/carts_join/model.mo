model Stop3 "three carts in a row, inelastic coupling when they meet"
  Real x[3](start={0,1,2},each fixed=true),v[3](start={3,0,0},each fixed=true),F[2]; Boolean c[2](each start=false,each fixed=true);
equation
  der(x)=v; der(v[1])=-F[1]; der(v[2])=F[1]-F[2]; der(v[3])=F[2];
  for i in 1:2 loop
    when x[i]>=x[i+1] then c[i]=true; end when;
    if c[i] then v[i]=v[i+1]; else F[i]=0; end if;
  end for;
end Stop3;
