// Foreign functions inside a stiff equation and inside loops: their partial derivatives are numeric, what stands
// around them is differentiated. x = cos(time); a + cube(a) = 2 + sin(time); p and q are a loop through two results.
model OpaqueStiff
  function cube
    input Real u;
    output Real y;
    external "C" y = saltus_test_cube(u) annotation(Include = "static double saltus_test_cube(double u) { return u*u*u + u; }");
  end cube;
  function pair
    input Real u;
    input Real v;
    output Real sum;
    output Real product;
    external "C" saltus_test_pair(u, v, sum, product) annotation(
      Include = "static void saltus_test_pair(double u, double v, double *s, double *p) { *s = u + v; *p = u*v; }");
  end pair;
  Real x(start = 1, fixed = true);
  Real a(start = 1);
  Real p(start = 3), q(start = 1);
  Real s, m;
equation
  der(x) = -2000*(cube(x) - cube(cos(time))) - sin(time);
  cube(a) = 2 + sin(time);
  (s, m) = pair(p, q);
  s = 5;
  m = 6;
end OpaqueStiff;
