model AssertionExcludes "an assertion says that a singular mode does not occur, and the run enters it"
  Boolean u1(start = false, fixed = true), u2(start = false, fixed = true);
  Real v, i1, i2, x(start = 0, fixed = true);
equation
  der(x) = v + 1;
  when x > 1 then u1 = true; end when;
  when x > 2 then u2 = true; end when;
  assert(not (u1 and u2), "never both");
  if u1 then v = 1; else i1 = 0; end if;
  if u2 then v = 2; else i2 = 0; end if;
  i1 + i2 = v;
end AssertionExcludes;
