model ContactComplementarity "a mass dropped on the floor stays there and is lifted later"
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), N, F;
equation
  F = if time < 2 then 0 else 20;
  der(x) = v; der(v) = -10 + F + N;
  Saltus.complementarity(x, N);
end ContactComplementarity;
