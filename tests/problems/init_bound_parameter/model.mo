model InitBoundParameter "An initial equation gives a parameter that is bound to another, which is wanted"
  parameter Real m = 3;
  parameter Real g(fixed = false);
  parameter Real h = 2*g;
  Real x(start = m, fixed = true);
initial equation
  h = m + 1;
equation
  der(x) = -g*x;
end InitBoundParameter;
