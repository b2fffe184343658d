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

--- records-by-pointer simulate --stop 1 --intervals 1 ---
record Inner
  Real a;
  Integer k[2];
end Inner;
record R
  Real x;
  Boolean b;
  String s;
  Inner part;
  Inner many[2];
  Real m[2, 2];
end R;
function total
  input R r;
  input Real f;
  output Real y;
external "C" y = total(r, f)
  annotation(Include = "
typedef struct { double a; int k[2]; } Inner;
typedef struct { double x; int b; const char *s; Inner part; Inner many[2]; double m[4]; } R;
static double total(const R *r, double f) {
  double y = r->x + r->b + r->s[0] + r->part.a + r->part.k[1];
  for (int i = 0; i < 2; ++i) y += r->many[i].a + 10*r->many[i].k[0] + 100*r->many[i].k[1];
  for (int i = 0; i < 4; ++i) y += r->m[i]*(i + 1);
  return f*y;
}");
end total;
model M
  Real y = total(R(time, true, "A", Inner(2, {3, 4}), {Inner(1, {2, 3}), Inner(4, {5, 6})}, [1, 2; 3, 4]), 2);
end M;
--- expect ---
time,y
0.0,2154.0
1.0,2156.0

--- records-as-outputs simulate --stop 1 --intervals 1 ---
record Inner
  Real a;
  Integer k[2];
end Inner;
record Out
  Real sum;
  Inner part;
  String t;
end Out;
function given
  input Real u;
  output Out o;
  output Real twice;
external "C" given(u, o, twice)
  annotation(Include = "
struct Inner { double a; int k[2]; };
struct Out { double sum; struct Inner part; const char *t; };
static void given(double u, struct Out *o, double *twice) {
  o->sum = u + 1; o->part.a = 3*u; o->part.k[0] = 5; o->part.k[1] = 6; o->t = \"hi\"; *twice = 2*u;
}");
end given;
function make "A single record is returned"
  input Real u;
  output Inner r;
external "C"
  annotation(Include = "
struct Inner { double a; int k[2]; };
static struct Inner make(double u) { struct Inner r = {u*u, {1, 2}}; return r; }");
end make;
function reverse "An array of records is an array of structures"
  input Inner r[:];
  output Inner q[size(r, 1)];
external "C" reverse(r, size(r, 1), q)
  annotation(Include = "
struct Inner { double a; int k[2]; };
static void reverse(const struct Inner *r, int n, struct Inner *q) {
  for (int i = 0; i < n; ++i) q[i] = r[n - 1 - i];
}");
end reverse;
model M
  Out o;
  Real w;
  Boolean hi = o.t == "hi";
  Inner q = make(time + 1);
  Inner p[3] = reverse({Inner(time, {1, 2}), Inner(2, {3, 4}), Inner(3, {5, 6})});
equation
  (o, w) = given(time);
end M;
--- expect ---
time,o.sum,o.part.a,o.part.k[1],o.part.k[2],w,hi,q.a,q.k[1],q.k[2],p[1].a,p[1].k[1],p[1].k[2],p[2].a,p[2].k[1],p[2].k[2],p[3].a,p[3].k[1],p[3].k[2]
0.0,1.0,0.0,5,6,0.0,true,1.0,1,2,3.0,5,6,2.0,3,4,0.0,1,2
1.0,2.0,3.0,5,6,2.0,true,4.0,1,2,3.0,5,6,2.0,3,4,1.0,1,2

--- structure-of-another-size error check ---
record R
  Real a;
  Real b;
end R;
function f
  input Real x;
  output R r;
external "C" r = f(x)
  annotation(Include = "struct S { double a; }; static struct S f(double x) { struct S s = {x}; return s; }");
end f;
model M
  R r = f(time);
end M;
--- expect ---
exit: 3
error: the C code of the external function f does not compile: static assertion failed: "the structure has other members than the record"
--> model.mo:5:10

--- open-size-in-a-structure error check ---
record R
  Integer n;
  Real a[n];
end R;
function f
  input Integer n;
  output R r(n = n);
external "C" f(n, r)
  annotation(Include = "static void f(int n, void *r) {}");
end f;
model M
  parameter Integer n = 3;
  R r = f(n);
end M;
--- expect ---
exit: 3
error: the size of r.a must be fixed: it is a member of a structure in C

--- fortran-from-lapack simulate --stop 2 --intervals 2 ---
// {{2, 1}, {1, 3}} x = t {3, 5} has the solution x = t {4/5, 7/5}; {{2, 1}, {1, 2}} the eigenvalues 1 and 3.
function solve
  input Real A[:, size(A, 1)];
  input Real b[size(A, 1)];
  output Real x[size(A, 1)] = b;
  output Integer info;
protected
  Real LU[size(A, 1), size(A, 1)] = A;
  Integer pivots[size(A, 1)];
external "FORTRAN 77" dgesv(size(A, 1), 1, LU, size(A, 1), pivots, x, size(A, 1), info)
  annotation(Library = "lapack");
end solve;
function eigenvalues
  input Real A[:, size(A, 1)];
  output Real re[size(A, 1)];
  output Real im[size(A, 1)];
  output Integer info;
protected
  Integer n = size(A, 1);
  Integer lwork = 12*n;
  Real H[n, n] = A;
  Real left[n, n], right[n, n], work[12*n];
external "FORTRAN 77" dgeev("N", "N", n, H, n, re, im, left, n, right, n, work, lwork, info)
  annotation(Library = "lapack");
end eigenvalues;
model M
  Real x[2];
  Integer info;
  Real re[2] = eigenvalues({{2, 1}, {1, 2}});
  Real smaller = min(re), larger = max(re);
equation
  (x, info) = solve({{2, 1}, {1, 3}}, {3*time, 5*time});
end M;
--- expect ---
time,x[1],x[2],info,re[1],re[2],smaller,larger
0.0,0.0,0.0,0,3.0,1.0,1.0,3.0
1.0,0.8,1.4,0,3.0,1.0,1.0,3.0
2.0,1.6,2.8,0,3.0,1.0,1.0,3.0

--- resources-by-their-address simulate --stop 1 --intervals 1 ---
// This file has 21 lines; modelica://M/ is its folder.
package ModelicaServices
  package ExternalReferences
    function loadResource
      input String uri;
      output String fileName;
    algorithm
      fileName := uri;
    end loadResource;
  end ExternalReferences;
end ModelicaServices;
function countLines
  input String fileName;
  output Integer n;
external "C" n = ModelicaInternal_countLines(fileName);
end countLines;
model M
  parameter String file = ModelicaServices.ExternalReferences.loadResource("modelica://M/model.mo");
  parameter Integer lines = countLines(file);
  Real x = lines*time;
end M;
--- expect ---
time,lines,x
0.0,21,0.0
1.0,21,21.0

--- code-that-another-function-brings simulate --stop 1 --intervals 1 ---
function f
  input Real x;
  output Real y;
external "C" y = f(x)
  annotation(Include = "double helper(double); double f(double x) { return helper(x) + 1; }");
end f;
function g
  input Real x;
  output Real y;
external "C" y = g(x)
  annotation(Include = "double helper(double x) { return 2*x; } double g(double x) { return helper(x); }");
end g;
model M
  Real a = f(time), b = g(time);
end M;
--- expect ---
time,a,b
0.0,1.0,0.0
1.0,3.0,2.0

--- effects-once-an-event simulate --stop 2.5 --intervals 5 ---
impure function count "Calls so far"
  output Integer n;
external "C" n = count_calls()
  annotation(Include = "static int calls, marks; static int count_calls(void) { return ++calls; } static void mark(int n) { marks += n; } static int count_marks(void) { return marks; }");
end count;
impure function mark "Gives nothing"
  input Integer n;
external "C" mark(n)
  annotation(Include = "static int calls, marks; static int count_calls(void) { return ++calls; } static void mark(int n) { marks += n; } static int count_marks(void) { return marks; }");
end mark;
impure function marks
  output Integer n;
external "C" n = count_marks()
  annotation(Include = "static int calls, marks; static int count_calls(void) { return ++calls; } static void mark(int n) { marks += n; } static int count_marks(void) { return marks; }");
end marks;
model M
  Integer a(start = 0, fixed = true), b(start = 0, fixed = true), m(start = 0, fixed = true);
equation
  when sample(0, 1) then
    a = count();
    mark(10);
  end when;
  when a > 1 then
    b = a + pre(b);
  end when;
  when sample(0.5, 1) then
    m = marks();
  end when;
end M;
--- expect ---
time,a,b,m
0.0,1,0,0
0.5,1,0,0
0.5,1,0,10
1.0,1,0,10
1.0,2,2,10
1.5,2,2,10
1.5,2,2,20
2.0,2,2,20
2.0,3,2,20
2.5,3,2,20
2.5,3,2,30
