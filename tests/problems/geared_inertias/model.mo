model GearedInertias "Two inertias rigidly coupled by a gear: one speed too many among the states"
  parameter Real J1 = 2, J2 = 0.5, n = 3;
  Real phi1(start = 0, fixed = true), phi2, w1(start = 0, fixed = true), w2, tau1, tau2;
equation
  der(phi1) = w1;
  der(phi2) = w2;
  J1*der(w1) = 4 - tau1;
  J2*der(w2) = tau2;
  phi2 = n*phi1;
  tau1 = n*tau2;
end GearedInertias;
