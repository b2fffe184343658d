model CrossedOnce "a threshold that is passed once, at which something else begins to move"
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  der(y) = 3.292*n;
  when x > 1.01 then
    n = pre(n) + 1;
  end when;
end CrossedOnce;
