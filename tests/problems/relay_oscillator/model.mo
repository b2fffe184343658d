model RelayOscillator
  Real x(start=0,fixed=true); Boolean h(start=false,fixed=true); Integer n(start=0,fixed=true);
equation
  der(x) = (if h then -1 else 1) - x;
  h = x>0.5 or pre(h) and x>=-0.5;
  when change(h) then n=pre(n)+1; end when;
end RelayOscillator;
