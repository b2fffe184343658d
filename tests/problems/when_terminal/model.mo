model WhenTerminal
  Real x(start=0,fixed=true); Integer n(start=0,fixed=true);
equation
  der(x)=1;
  when terminal() then n=pre(n)+1; end when;
end WhenTerminal;
