model DerEvent "an event on the derivative of an algebraic variable"
  Real x(start = 0, fixed = true), w;
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  w = x^3 - 3*x;
  when der(w) > 0 then
    n = pre(n) + 1;
  end when;
end DerEvent;
