model SlidesOverBend "A boundary that is slid along has a bend at a time event: no derivative reads what changes there but the boundary"
  Real x(start = -1, fixed = true), w(start = 0, fixed = true), u;
equation
  der(x) = u;
  u = if x > (if time < 1 then 0.2*time else 0.2 - 0.6*(time - 1)) then -2 else 2;
  der(w) = u;
end SlidesOverBend;
