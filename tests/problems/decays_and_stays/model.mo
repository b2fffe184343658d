model DecaysAndStays "A current falls to 1e-5 of what it was, stays there, and comes back: it has not touched zero"
  Real i(start = 0, fixed = true), u;
  Integer n(start = 0, fixed = true);
equation
  u = if time < 1 then 50 elseif time < 2 then 5e-4 else 50;
  der(i) = (if time < 1 then 10 elseif time < 2 then 1e3 else 1)*(u - i);
  when i <= 0 then
    n = pre(n) + 1;
  end when;
end DecaysAndStays;
