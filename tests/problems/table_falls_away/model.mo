model TableFallsAway "the table drops by 1, later another one sinks faster and faster: a body falls by itself"
  Real x(start = 0, fixed = true), v(start = 0, fixed = true), N, s, y(start = 0, fixed = true), w(start = 0, fixed = true), M, r;
equation
  s = if time < 1 then 0 else -1;
  der(x) = v;
  der(v) = N - 10;
  Saltus.complementarity(x - s, N);
  r = if time < 1 then 0 else -(time - 1);
  der(y) = w;
  der(w) = M - 10;
  Saltus.complementarity(y - r, M);
end TableFallsAway;
