Foreign C code: scalars, arrays, strings, several outputs, external objects, errors.

--- scalars simulate --stop 2 --intervals 2 ---
function mix
  input Real x;
  input Integer n;
  input Boolean b;
  output Real y;
external "C" y = mix(x, n, b)
  annotation(Include = "static double mix(double x, int n, int b) { return b ? n*x : -n*x; }");
end mix;
model M
  Real x = mix(time, 3, true);
  Real y = mix(time, 2, false);
end M;
--- expect ---
time,x,y
0.0,0.0,0.0
1.0,3.0,-2.0
2.0,6.0,-4.0

--- arrays-and-default-mapping simulate --stop 1 --intervals 1 ---
function scaled
  input Real a;
  input Real x[:];
  output Real y[size(x, 1)];
external "C"
  annotation(Include = "
static void scaled(double a, const double *x, size_t n, double *y, size_t m) {
  for (size_t i = 0; i < n; ++i) y[i] = a*x[i] + i;
}");
end scaled;
function total
  input Integer k[:, :];
  output Integer s;
external "C" s = total(k, size(k, 1), size(k, 2))
  annotation(Include = "
static int total(const int *k, int n, int m) { int s = 0; for (int i = 0; i < n*m; ++i) s += k[i]; return s; }");
end total;
model M
  Real y[3] = scaled(2 + time, {1, 2, 3});
  parameter Integer s = total({{1, 2, 3}, {4, 5, 6}});
end M;
--- expect ---
time,y[1],y[2],y[3],s
0.0,2.0,5.0,8.0,21
1.0,3.0,7.0,11.0,21

--- several-outputs-and-strings simulate --stop 1 --intervals 1 ---
function polar
  input Real x, y;
  output Real r;
  output Real phi;
external "C" polar(x, y, r, phi)
  annotation(Include = "
#include <math.h>
static void polar(double x, double y, double *r, double *phi) { *r = hypot(x, y); *phi = atan2(y, x); }");
end polar;
function greet
  input String name;
  output String text;
external "C" text = greet(name)
  annotation(Include = "
#include \"ModelicaUtilities.h\"
#include <string.h>
static const char *greet(const char *name) {
  char *s = ModelicaAllocateString(strlen(name) + 6);
  strcpy(s, \"hello \");
  return strcat(s, name);
}");
end greet;
function length
  input String s;
  output Integer n;
external "C" n = length(s)
  annotation(Include = "
#include <string.h>
static int length(const char *s) { return (int)strlen(s); }");
end length;
model M
  Real r, phi;
  parameter Integer n = length(greet("world"));
equation
  (r, phi) = polar(3 + 0*time, 4);
end M;
--- expect ---
time,r,phi,n
0.0,5.0,0.9272952180016122,11
1.0,5.0,0.9272952180016122,11

--- external-object simulate --stop 2 --intervals 2 ---
package P
  class Counter
    extends ExternalObject;
    function constructor
      input Real start;
      output Counter c;
    external "C" c = counter_new(start)
      annotation(Include = "
#include <stdlib.h>
static void *counter_new(double start) { double *p = malloc(sizeof(double)); *p = start; return p; }
static void counter_free(void *p) { free(p); }
static double counter_read(void *p, double x) { return *(double *)p + x; }");
    end constructor;
    function destructor
      input Counter c;
    external "C" counter_free(c)
      annotation(Include = "
#include <stdlib.h>
static void *counter_new(double start) { double *p = malloc(sizeof(double)); *p = start; return p; }
static void counter_free(void *p) { free(p); }
static double counter_read(void *p, double x) { return *(double *)p + x; }");
    end destructor;
  end Counter;
  function read
    input Counter c;
    input Real x;
    output Real y;
  external "C" y = counter_read(c, x)
    annotation(Include = "
#include <stdlib.h>
static void *counter_new(double start) { double *p = malloc(sizeof(double)); *p = start; return p; }
static void counter_free(void *p) { free(p); }
static double counter_read(void *p, double x) { return *(double *)p + x; }");
  end read;
  model M
    Counter c = Counter(10);
    Real y = read(c, time);
  end M;
end P;
--- expect ---
time,y
0.0,10.0
1.0,11.0
2.0,12.0

--- c-error-stops-the-run error simulate --stop 2 ---
function root
  input Real x;
  output Real y;
external "C" y = root(x)
  annotation(Include = "
#include \"ModelicaUtilities.h\"
#include <math.h>
static double root(double x) {
  if (x < 0) ModelicaFormatError(\"root of %g\", x);
  return sqrt(x);
}");
end root;
model M
  Real x(start = 1, fixed = true);
  Real y = root(x);
equation
  der(x) = -1;
end M;
--- expect ---
exit: 6
error: the run failed at time
root of -
--> model.mo:1:10

--- c-code-with-an-error error check ---
function f
  input Real x;
  output Real y;
external "C" y = f(x)
  annotation(Include = "static double f(double x) { return x + undeclared_thing; }");
end f;
model M
  Real y = f(time);
end M;
--- expect ---
exit: 3
error: the C code of the external function f does not compile: ‘undeclared_thing’ undeclared (first use in this function)
--> model.mo:1:10

--- no-code error check ---
function f
  input Real x;
  output Real y;
external "C" y = nowhere_to_be_found(x);
end f;
model M
  Real y = f(time);
end M;
--- expect ---
exit: 3
error: there is no C code for nowhere_to_be_found: name it in an Include or Library annotation of the external function
--> model.mo:1:10

--- implicit-differentiation-of-c simulate --stop 1 --intervals 1 ---
function square
  input Real x;
  output Real y;
external "C" y = square_of(x)
  annotation(Include = "static double square_of(double x) { return x*x; }");
end square;
model M
  Real x(start = 3);
equation
  square(x) = 4 + 12*time;
end M;
--- expect ---
time,x
0.0,2.0
1.0,4.0
