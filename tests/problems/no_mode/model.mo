model NoMode
  Real y; Boolean b;
equation
  b = y>0; y = if b then -1 else 1;
end NoMode;
