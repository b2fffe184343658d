model StaysAtZero "A function comes to zero where a time event stops it, and stays: it is not above zero there"
  Real x(start = 0, fixed = true), w(start = 0, fixed = true);
  Integer up(start = 0, fixed = true), down(start = 0, fixed = true), back(start = 0, fixed = true);
equation
  der(x) = if time < 1 then 0 elseif time < 2 then 1 elseif time < 3 then -1 elseif time < 4 then 0 elseif time < 5 then -1 else 1;
  der(w) = if x > 0 then 1 else 0;
  when x > 0 then up = pre(up) + 1; end when;
  when x < 0 then down = pre(down) + 1; end when;
  when x >= 0 then back = pre(back) + 1; end when;
end StaysAtZero;
