model StartNonzero
  Integer n(start=0,fixed=true); Real x(start=0,fixed=true);
equation
  der(x)=1;
  when sample(0,1) then n=pre(n)+1; end when;
  when time>=5.5 then reinit(x,10); end when;
end StartNonzero;
