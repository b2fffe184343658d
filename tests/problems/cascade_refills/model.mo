model CascadeRefills "a tank that has run empty fills again: the slope of its root is infinite there"
  Real h0(start = 0.53, fixed = true), h1(start = 0.62, fixed = true), h2(start = 0.38, fixed = true), h3(start = 0.9, fixed = true);
  Real o0, o1, o2, o3;
equation
  o0 = 2*(smooth(0, if h0 > 0 then sqrt(h0) else 0));
  o1 = 0.5*(smooth(0, if h1 > 0 then sqrt(h1) else 0));
  o2 = 0.5*(smooth(0, if h2 > 0 then sqrt(h2) else 0));
  o3 = 2*(smooth(0, if h3 > 0 then sqrt(h3) else 0));
  der(h0) = + 0.3*(if time > 3 and time < 4 then 1 else 0) - o0;
  der(h1) = + o0 - o1;
  der(h2) = + o1 - o2;
  der(h3) = + o2 - o3;
end CascadeRefills;
