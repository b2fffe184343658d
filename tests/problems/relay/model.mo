model Relay
  Real x(start=0,fixed=true); Boolean on(start=true,fixed=true); Integer n(start=0,fixed=true);
equation
  der(x)=if on then 1 else -2;
  on = if pre(on) then not x>1 else x<0;
  when change(on) then n=pre(n)+1; end when;
end Relay;
