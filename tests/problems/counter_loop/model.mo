model CounterLoop
  Integer n(start=0,fixed=true), k(start=0,fixed=true); Boolean go(start=false,fixed=true);
equation
  go = time>=0.5;
  n = if go and pre(n)<10 then pre(n)+1 else pre(n);
  when n>=10 then k=pre(k)+1; end when;
end CounterLoop;
