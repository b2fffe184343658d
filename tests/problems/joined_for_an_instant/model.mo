model JoinedForAnInstant "a clutch closes and opens in one instant"
  Real w1(start = 6, fixed = true), w2(start = 0, fixed = true), t;
  Integer m(start = 0, fixed = true);
equation
  der(w1) = -t;
  2*der(w2) = t;
  when time >= 1 then m = 1; elsewhen pre(m) == 1 then m = 0; end when;
  if m == 1 then w1 = w2; else t = 0; end if;
end JoinedForAnInstant;
