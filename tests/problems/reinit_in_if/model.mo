model ReinitInIf "reinit under conditions of its own, in algorithm sections"
  Real x(start = 0, fixed = true), z(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  der(z) = 1;
algorithm
  when x >= 1 then
    n := n + 1;
    if n < 2 then
      reinit(x, 0);
    else
      reinit(x, -10);
    end if;
  end when;
algorithm
  when sample(0.5, 0.5) then
    if z >= 0.75 then
      reinit(z, 0);
    end if;
  end when;
end ReinitInIf;
