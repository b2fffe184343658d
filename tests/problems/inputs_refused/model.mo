model InputsRefused "inputs alone lead into a mode where v is determined twice"
  input Boolean u1, u2;
  Real v, i1, i2, x(start = 0, fixed = true);
equation
  der(x) = v;
  if u1 then v = 1; else i1 = 0; end if;
  if u2 then v = 2; else i2 = 0; end if;
  i1 + i2 = v;
end InputsRefused;
