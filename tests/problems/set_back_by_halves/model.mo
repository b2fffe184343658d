model SetBackByHalves "x falls and is set back to half its last height: infinitely many events until time 2, then it rests until it is led up"
  Real x(start = 1, fixed = true);
  discrete Real d(start = 1, fixed = true);
equation
  der(x) = if time < 3 then -1 else 1;
  when x <= 0 then
    d = pre(d)/2;
    reinit(x, d);
  end when;
end SetBackByHalves;
