model ParallelStart "Two ideal switches in parallel, both closed by a state: the share of the current is open"
  Real v, i1, i2, u(start = 0, fixed = true);
  Boolean s1(start = true, fixed = true), s2(start = true, fixed = true);
equation
  der(u) = 1;
  when u > 1 then s1 = true; end when;
  when u > 2 then s2 = true; end when;
  if s1 then v = 0; else i1 = 0; end if;
  if s2 then v = 0; else i2 = 0; end if;
  i1 + i2 + v = 1;
end ParallelStart;
