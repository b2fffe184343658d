How the equations are put matters to the integrator (section 6.8 of the thesis): derivatives are computed by the equation that defines
them, whatever others read their values; variables that equal states are replaced by them, so that nonlinearities stand on states.

--- a-derivative-inside-a-nonlinearity-is-evaluated-first analyze ---
model Third
  Real x1(start = 2);
  Real x2(start = 1, fixed = true);
  Real x3;
equation
  0 = der(x2) + x2;
  0 = der(x2) + (x1 + der(x2))^3;
  0 = der(x2) - x3;
end Third;

--- expect ---
model Third
before simplification: 3 equations, 3 continuous variables
after: 3 equations, 3 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (1): x2
blocks:
  1: der(x2) from der(x2) + x2 = 0
  2: x1 from der(x2) + (x1 + der(x2))^3 = 0
  3: x3 from der(x2) = x3

--- nonlinearities-move-to-the-state analyze ---
model Second
  Real x1(start = 2);
  Real x2(start = 1, fixed = true);
  Real x3(start = -1);
equation
  0 = x2 - x3;
  0 = x1 + x3*sin(x3)*exp(-x3);
  0 = x3 - der(x2);
end Second;

--- expect ---
model Second
before simplification: 3 equations, 3 continuous variables
after: 2 equations, 2 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (1): x2
blocks:
  1: x1 from x1 + x2*sin(x2)*exp(-x2) = 0
  2: der(x2) from x2 = der(x2)

--- the-rectifier-reads-its-state-instead-of-a-voltage analyze ---
model Rectifier
  parameter Real r0 = 220, r1 = 50, r2 = 0.0001, r3 = 500, r4 = 20;
  function f
    input Real x;
    output Real y;
  algorithm
    y := x/1e8 - 1e-6 + 1e-6*exp(x/0.04);
    annotation(Inline = false);
  end f;
  Real x1, x2, x3, x4(start = 0, fixed = true), v0, v1, v2, v3;
equation
  v0 = r0*sin(3.141592653589793*r1*time);
  v1 = r3*(x3 - f(-x2) - f(x1 - x2));
  v2 = r4*(f(x2 + v1) - f(-x2));
  v3 = x2 + v0 + v1 + v2;
  0 = x1 + v0 + v2;
  0 = x4 + v1;
  0 = f(x1 - x2) + f(-x2) - f(x2 + v1) - f(v3);
  0 = r2*der(x4) - x3;
end Rectifier;

--- expect ---
model Rectifier
before simplification: 8 equations, 8 continuous variables
after: 7 equations, 7 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 1
states (1): x4
blocks:
  1: v0 from v0 = r0*sin(3.141592653589793*r1*time)
  2: 4 simultaneous equations for v2, x2, x1, v3
     nonlinear; torn: x2
       v2 = r4*((x2 + (-x4))/100000000 - 0.000001 + 0.000001*exp((x2 + (-x4))/0.04) - (-x2/100000000 - 0.000001 + 0.000001*exp(-x2/0.04)))
       v3 = x2 + v0 + (-x4) + v2
       x1 + v0 + v2 = 0
       (x1 - x2)/100000000 - 0.000001 + 0.000001*exp((x1 - x2)/0.04) + (-x2/100000000 - 0.000001 + 0.000001*exp(-x2/0.04)) - ((x2 + (-x4))/100000000 - 0.000001 + 0.000001*exp((x2 + (-x4))/0.04)) = v3/100000000 - 0.000001 + 0.000001*exp(v3/0.04)
  3: x3 from (-x4) = r3*(x3 - (-x2/100000000 - 0.000001 + 0.000001*exp(-x2/0.04)) - ((x1 - x2)/100000000 - 0.000001 + 0.000001*exp((x1 - x2)/0.04)))
  4: der(x4) from r2*der(x4) = x3

--- linear-equations-of-one-unknown-are-solved-beforehand analyze ---
model Trivial
  Real a, b, c, x(start = 1, fixed = true);
equation
  2*a + 3 = 7;
  a*b = 6;
  c + b = 0;
  der(x) = c*x;
end Trivial;

--- expect ---
model Trivial
before simplification: 4 equations, 4 continuous variables
after: 1 equations, 1 variables
discrete variables: 0, relations: 0, when-equations: 0
structural index: 0
states (1): x
blocks:
  1: der(x) from der(x) = (-3)*x
