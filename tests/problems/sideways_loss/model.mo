model SidewaysLoss "Every impact takes a tenth of the speed sideways, too: infinitely many take all of it"
  Real x(start = 0, fixed = true), h(start = 1, fixed = true), vx(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = vx; der(h) = v; der(vx) = 0; der(v) = -9.81;
  when h <= 0 then reinit(v, -0.5*pre(v)); reinit(vx, 0.9*pre(vx)); end when;
end SidewaysLoss;
