model InverseModel "Index 4: the input that makes three integrators in a row follow a given path"
  Real x1, x2, x3, u;
equation
  der(x1) = x2;
  der(x2) = x3;
  der(x3) = u - 2*x3*x2 - x1^3;
  x1 = sin(time) + time^2/4;
end InverseModel;
