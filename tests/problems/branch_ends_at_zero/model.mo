model BranchEndsAtZero "Functions that come to zero where their branch ends, and rest there, turn back or go on"
  Real x(start = 0, fixed = true);
  Real rises, falls, turns, touches, lands;
  Real z(start = 0, fixed = true), w(start = 0, fixed = true), v(start = 0, fixed = true);
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true), k(start = 0, fixed = true), l(start = 0, fixed = true);
equation
  der(x) = 1;
  rises = if x < 1 then x - 1 else 0;
  falls = if x < 1 then 1 - x else 0;
  turns = if x < 1 then 1 - x else 0.5*(x - 1);
  touches = if x < 2 then (x - 2)^2 else 0;
  lands = if x <= 1 then 0 elseif x < 2 then -(x - 1)^4*(x - 2)^4 else 0;
  der(z) = if rises > 0 then 1 else 0;
  der(w) = (if falls < 0 then 1 else 0) + (if falls >= 0 then 0 else 1) + (if rises < 0 then 1 else 0);
  der(v) = if touches > 0 then 1 else 0;
  when rises > 0 then
    n = pre(n) + 1;
  end when;
  when {turns < 0, falls < 0} then
    m = pre(m) + 1;
  end when;
  when touches > 0 then
    k = pre(k) + 1;
  end when;
  when lands < 0 then
    l = pre(l) + 1;
  end when;
end BranchEndsAtZero;
