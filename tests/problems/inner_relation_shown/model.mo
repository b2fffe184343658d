model InnerRelationShown "Booleans of the model are shown as of the instant at which they change, also where a condition of several needs them alone"
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
  Boolean a, b;
  Integer n(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -x;
  a = x < 0.5;
  b = v < -0.9;
  when a and b then
    n = pre(n) + 1;
  end when;
end InnerRelationShown;
