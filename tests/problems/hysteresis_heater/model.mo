model HysteresisHeater "on at 19, off at 21"
  Real T(start = 15, fixed = true);
  Boolean on(start = true, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(T) = (10 - T) + (if on then 20 else 0);
  on = if pre(on) then T < 21 else T < 19;
  when change(on) then
    n = pre(n) + 1;
  end when;
end HysteresisHeater;
