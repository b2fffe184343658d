model CascadeModes "three modes at one instant: 0 to 1 to 2 to 3"
  Integer m(start=0,fixed=true);
  Real x(start=0,fixed=true), y(start=4,fixed=true), f;
equation
  der(x) = 1 + f; der(y) = -f;
  when x >= 1 then m = 1; elsewhen pre(m) == 1 then m = 2; elsewhen pre(m) == 2 then m = 3; end when;
  if m == 1 then f = 0; elseif m == 2 then f = 10; elseif m == 3 then x = y; else f = 0; end if;
end CascadeModes;
