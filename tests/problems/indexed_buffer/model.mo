model Buf
  Integer k(start=0, fixed=true);
  Real b[4](start={6.5,0,0,0}, each fixed=true);
  Real s(start=0, fixed=true);
algorithm
  when sample(0, 0.1) then
    k := pre(k) + 1;
    if k <= 4 then
      b[k] := 10*k;
    end if;
    if k == 4 then
      s := sum(b);
    end if;
  end when;
end Buf;
