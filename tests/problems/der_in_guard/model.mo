model DerInGuard "guard on a derivative"
  Real x(start=0,fixed=true), v(start=0,fixed=true), F;
  Boolean fast(start=false,fixed=true);
equation
  der(x)=v; der(v) = 1 + F;
  when der(x) > 1.5 then fast = true; end when;
  if fast then v = 1; else F = 0; end if;
end DerInGuard;
