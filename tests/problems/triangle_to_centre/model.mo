model TriangleToCentre "Three modes in turn along the sides of triangles, each half as long after a turn of two thirds: an end in the middle"
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
  Real a(start = 0, fixed = true), b(start = 0, fixed = true) "time in the first two modes";
  Integer m(start = 1, fixed = true);
  parameter Real q = 0.5, s = sqrt(3)/2, L = sqrt(1 + q + q^2);
equation
  der(x) = (if m == 1 then -1 - q/2 elseif m == 2 then (1 - q)/2 else 0.5 + q)/L;
  der(y) = s*(if m == 1 then q elseif m == 2 then -1 - q else 1)/L;
  der(a) = if m == 1 then 1 else 0;
  der(b) = if m == 2 then 1 else 0;
  when -y/2 - s*x >= 0 and pre(m) == 1 then
    m = 2;
  elsewhen -y/2 + s*x >= 0 and pre(m) == 2 then
    m = 3;
  elsewhen y >= 0 and pre(m) == 3 then
    m = 1;
  end when;
end TriangleToCentre;
