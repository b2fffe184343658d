model ReverseThenLock "A reinit turns a shaft around in the instant in which it is locked to another one"
  Real v(start=4,fixed=true), w(start=0,fixed=true), f;
  Boolean l(start=false,fixed=true);
equation
  der(v) = -f;
  2*der(w) = f;
  when time >= 1 then l = true; reinit(v, -pre(v)); end when;
  if l then v = w; else f = 0; end if;
end ReverseThenLock;
