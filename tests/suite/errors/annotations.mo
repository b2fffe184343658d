Annotations of functions and declarations that contradict what they stand at (Modelica 3.6, sections 12.7, 12.8 and 18.3). They are told with their places; the model works without them.

--- a-derivative-takes-the-inputs-and-their-derivatives error check ---
function f
  input Real x;
  input Real k;
  output Real y;
algorithm
  y := k*x^2;
  annotation(derivative = f_der);
end f;
function f_der
  input Real x;
  input Real k;
  input Real dx;
  output Real dy;
algorithm
  dy := 2*k*x*dx;
end f_der;
model M
  Real y = f(time, 2);
end M;

--- expect ---
exit: 0
warning: f_der cannot be the derivative: it has 3 inputs, but takes the 2 of the function and 2 derivatives of them
--> model.mo:7:27
the function is differentiated by its algorithm instead

--- inputs-of-a-derivative-have-the-types-of-the-function error check ---
function f
  input Real x;
  input Integer k;
  output Real y;
algorithm
  y := k*x^2;
  annotation(derivative = f_der);
end f;
function f_der
  input Real x;
  input Boolean k;
  input Real dx;
  output Real dy;
algorithm
  dy := if k then 2*x*dx else 0;
end f_der;
function g
  input Real x;
  output Real y;
algorithm
  y := x^2;
  annotation(derivative = g_der);
end g;
function g_der
  input Real x;
  input Integer dx;
  output Real dy;
algorithm
  dy := 2*x*dx;
end g_der;
model M
  Real y = f(time, 2) + g(time);
end M;

--- expect ---
exit: 0
warning: f_der cannot be the derivative: its input k is of type Boolean, not Integer
--> model.mo:7:27
warning: g_der cannot be the derivative: its input dx, a derivative, is not Real
--> model.mo:22:27

--- a-derivative-has-no-more-outputs-than-the-function error check ---
function f
  input Real x;
  output Real y;
algorithm
  y := x^2;
  annotation(derivative = f_der);
end f;
function f_der
  input Real x;
  input Real dx;
  output Real dy;
  output Real more;
algorithm
  dy := 2*x*dx;
  more := 0;
end f_der;
model M
  Real y = f(time);
end M;

--- expect ---
exit: 0
warning: f_der cannot be the derivative: it has 2 outputs, and the function has 1
--> model.mo:6:27

--- options-of-a-derivative error check ---
function f
  input Real x;
  output Real y;
algorithm
  y := x^2;
  annotation(derivative(order = 0) = f_der);
end f;
function g
  input Real x;
  output Real y;
algorithm
  y := x^2;
  annotation(derivative(zeroDerivative = k, nothing = 1) = f_der);
end g;
function h
  input Real x;
  output Real y;
algorithm
  y := x^2;
  annotation(derivative = gone);
end h;
function i
  input Real x;
  output Real y;
algorithm
  y := x^2;
  annotation(derivative = 3);
end i;
function j
  input Real x;
  output Real y;
algorithm
  y := x^2;
  annotation(derivative = M);
end j;
function f_der
  input Real x;
  input Real dx;
  output Real dy;
algorithm
  dy := 2*x*dx;
end f_der;
model M
  Real y = f(time) + g(time) + h(time) + i(time) + j(time);
end M;

--- expect ---
exit: 0
warning: the order of a derivative is a positive Integer
--> model.mo:6:25
warning: zeroDerivative names an input of the function (x)
--> model.mo:13:25
warning: a derivative annotation has no nothing
--> model.mo:13:45
warning: the derivative gone is not known
--> model.mo:20:27
warning: a derivative annotation names a function: `derivative = f`
--> model.mo:27:14
warning: M cannot be the derivative: it is no function
--> model.mo:34:27

--- inverses-that-do-not-fit error check ---
function f
  input Real x;
  input Real k;
  output Real y;
algorithm
  y := k*x^3;
  annotation(inverse(z = f_inv(y, k)));
end f;
function g
  input Real x;
  input Real k;
  output Real y;
algorithm
  y := k*x^3;
  annotation(inverse(x = f_inv(w, k)));
end g;
function h
  input Real x;
  input Real k;
  output Real y;
algorithm
  y := k*x^3;
  annotation(inverse(x = f_inv(y), k = gone(x, y)));
end h;
function i
  input Real x;
  input Real k;
  output Real y;
algorithm
  y := k*x^3;
  annotation(inverse(x = f_inv(x, k), k = 2));
end i;
function f_inv
  input Real y;
  input Real k;
  output Real x;
algorithm
  x := (y/k)^(1/3);
end f_inv;
model M
  Real y = f(time, 2) + g(time, 2) + h(time, 2) + i(time, 2);
end M;

--- expect ---
exit: 0
warning: the function has no input z that an inverse could give (it has x, k)
--> model.mo:7:22
warning: w is neither an input nor an output of the function
--> model.mo:15:22
warning: f_inv has 2 inputs, but 1 are given
--> model.mo:23:22
warning: the inverse gone is not known
--> model.mo:23:36
warning: the inverse for x cannot depend on x
--> model.mo:31:22
warning: an inverse is given by a call: `inverse(k = f(…))`
--> model.mo:31:39
the inverse is not used

--- flags-are-booleans-and-evaluate-speaks-of-parameters error check ---
model M
  parameter Real p = 1 annotation(Evaluate = 3);
  parameter Real q = 1 annotation(HideResult = "yes");
  Real x = p + q annotation(Evaluate = true);
end M;

--- expect ---
exit: 0
warning: Evaluate is of type Boolean, so this says nothing
--> model.mo:2:35
warning: HideResult is of type Boolean, so this says nothing
--> model.mo:3:35
warning: Evaluate speaks of parameters, and x is a variable
--> model.mo:4:29
