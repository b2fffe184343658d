function poly "A polynomial by Horner's rule"
  input Real u;
  input Real c[:];
  output Real y;
algorithm
  y := 0;
  for k in size(c, 1):-1:1 loop
    y := y*u + c[k];
  end for;
  annotation(derivative(zeroDerivative = c) = poly_der);
end poly;
function poly_der "Its derivative"
  input Real u;
  input Real c[:];
  input Real du;
  output Real dy;
algorithm
  dy := 0;
  for k in size(c, 1):-1:2 loop
    dy := dy*u + (k - 1)*c[k];
  end for;
  dy := dy*du;
end poly_der;
model AnnotatedDerivatives "Three derivatives of a function with a derivative annotation"
  parameter Real c[4] = {1, 2, -0.5, 1/3};
  Real y, v, a, j;
equation
  y = poly(time, c);
  v = der(y);
  a = der(v);
  j = der(a);
end AnnotatedDerivatives;
