model SetForAnInstant "a mode of one instant without states says where the next one begins"
  Real x(start = 0, fixed = true);
  Integer m(start = 0, fixed = true);
equation
  when time >= 1 then m = 1; elsewhen pre(m) == 1 then m = 0; end when;
  if m == 1 then x = 5; else der(x) = 1; end if;
end SetForAnInstant;
