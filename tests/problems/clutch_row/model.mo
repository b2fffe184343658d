model ThreeClutch
  parameter Integer n=4; Real w[n](start={8,0,4,0},each fixed=true),tau[n-1]; Boolean on[n-1];
equation
  for i in 1:n-1 loop on[i]=time>i; if on[i] then w[i]=w[i+1]; else tau[i]=0; end if; end for;
  der(w[1])=-tau[1]; for i in 2:n-1 loop der(w[i])=tau[i-1]-tau[i]; end for; der(w[n])=tau[n-1];
end ThreeClutch;
