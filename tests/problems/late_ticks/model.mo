model LateTicks "Ticks eighty neighbouring numbers apart"
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
equation
  when sample(1e9, 1e-5) then
    n = pre(n) + 1;
  end when;
  when time >= 1e9 + 5e-5 then
    m = n;
  end when;
end LateTicks;
