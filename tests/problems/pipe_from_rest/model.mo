model PipeFromRest "a pressure drop that is quadratic in the flow, which begins at zero"
  Real h1(start = 1, fixed = true), h2(start = 1, fixed = true), q;
equation
  h1 - h2 = 2*q*abs(q);
  der(h1) = 0.2 - q;
  der(h2) = q - 0.1*h2;
end PipeFromRest;
