model EncoderBesideSwitch "Ticks that nothing continuous reads, several in one step, beside crossings of states: none is late, none is lost"
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
  Integer k, n(start = 0, fixed = true), c(start = 0, fixed = true);
  Integer early(start = 0, fixed = true), late(start = 0, fixed = true), order(start = 0, fixed = true);
  discrete Real at(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -4*x;
  k = integer(time/0.02);
  when change(k) then
    n = pre(n) + 1;
  end when;
  when x < 0.305 then
    c = pre(c) + 1;
  end when;
  when time >= 3.01 then
    early = 1;
  end when;
  when time >= 3.011 then
    late = 2 + pre(early);
    at = time;
  end when;
  when x*abs(v) > -0.428 then
    order = 10*pre(order) + pre(late);
  end when;
end EncoderBesideSwitch;
