model ShortedCapacitor "A capacitor between two nodes is shorted by a switch, and released again"
  Real v1, v2, u(start = 3, fixed = true), i, s;
equation
  u = v1 - v2;
  der(u) = i;
  5 - v1 = i + s;
  i + s = v2/2;
  if time >= 1 and time < 2 then
    v1 = v2;
  else
    s = 0;
  end if;
end ShortedCapacitor;
