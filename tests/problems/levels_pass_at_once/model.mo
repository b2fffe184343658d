model LevelsPassAtOnce "four levels that pass each other within 1e-4: each root ends where its relation turns"
  Real h0(start = 0.501, fixed = true), h1(start = 0.5, fixed = true), h2(start = 0.5, fixed = true), h3(start = 0.5, fixed = true);
  Real q0, q1, q2;
equation
  q0 = 1*(if h0 > h1 then sqrt(h0 - h1) else -sqrt(h1 - h0));
  q1 = 5*(if h0 > h2 then sqrt(h0 - h2) else -sqrt(h2 - h0));
  q2 = 2*(if h0 > h3 then sqrt(h0 - h3) else -sqrt(h3 - h0));
  der(h0) = - q0 - q1 - q2;
  der(h1) = + q0;
  der(h2) = + q1;
  der(h3) = + q2 + 0.1 + 0.2*sin(1*time);
end LevelsPassAtOnce;
