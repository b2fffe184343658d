function series "k exp(u), term by term: the number of terms depends on u"
  input Real u;
  input Real k;
  output Real y;
protected
  Real term;
  Integer n;
algorithm
  y := k;
  term := k;
  n := 0;
  while abs(term) > 1e-18 loop
    n := n + 1;
    term := term*u/n;
    y := y + term;
  end while;
  annotation(derivative(zeroDerivative = k) = series_der);
end series;
function series_der "Its derivative"
  input Real u;
  input Real k;
  input Real du;
  output Real dy;
algorithm
  dy := series(u, k)*du;
end series_der;
model AnnotatedDerivatives "Three derivatives of an algorithm with a derivative annotation, to rounding"
  parameter Real k = 2;
  Real y, v, a, j;
equation
  y = series(time, k);
  v = der(y);
  a = der(v);
  j = der(a);
end AnnotatedDerivatives;
