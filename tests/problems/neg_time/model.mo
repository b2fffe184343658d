model NegTime
  Integer n(start=0,fixed=true);
equation
  when time>=-0.5 then n=pre(n)+1; end when;
end NegTime;
