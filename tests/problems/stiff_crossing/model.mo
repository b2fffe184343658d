model StiffCrossing "x follows the sine within its error: where it has risen above a half, it has done so once"
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = -1e6*(x - sin(time));
  der(y) = if x > 0.5 then 1 else -1;
  when x > 0.5 then
    n = pre(n) + 1;
  end when;
end StiffCrossing;
