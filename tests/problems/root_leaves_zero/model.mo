model RootLeavesZero "differences that come to zero by less than errors, and go back"
  Real h0(start = 0.50001, fixed = true), h1(start = 0.5001, fixed = true), h2(start = 0.5, fixed = true), h3(start = 0.5, fixed = true), h4(start = 0.501, fixed = true);
  Real q0, q1, q2, q3;
equation
  q0 = 0.3*(sign(h0 - h1)*sqrt(abs(h0 - h1)));
  q1 = 1*(sign(h0 - h2)*sqrt(abs(h0 - h2)));
  q2 = 0.5*(sign(h0 - h3)*sqrt(abs(h0 - h3)));
  q3 = 1*(sign(h0 - h4)*sqrt(abs(h0 - h4)));
  der(h0) = - q0 - q1 - q2 - q3 - 0.3*(if h0 > 0 then sqrt(h0) else 0) + 0.1 + 0.2*sin(5*time);
  der(h1) = + q0 - 0.1*(if h1 > 0 then sqrt(h1) else 0);
  der(h2) = + q1 + 0 + 0.05*sin(5*time);
  der(h3) = + q2;
  der(h4) = + q3 - 0.6*(if h4 > 0 then sqrt(h4) else 0) + 0.1 + 0.2*sin(1*time);
end RootLeavesZero;
