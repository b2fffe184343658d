model ManySamples
  Integer n(start=0,fixed=true); Real x(start=0,fixed=true);
equation
  der(x)=-x+1;
  when sample(0,0.001) then n=pre(n)+1; end when;
end ManySamples;
