model UnequalBrakes "Two Coulomb brakes on one shaft: one gives way before the other, both move together"
  model Brake
    parameter Real fmax = 1;
    Real w, a, tau, s;
    Boolean fwd, bwd, stuck;
    Integer mode(start = 0, fixed = true);
  equation
    fwd = pre(mode) == 0 and (s > fmax or pre(fwd) and s > fmax) or initial() and w > 0;
    bwd = pre(mode) == 0 and (s < -fmax or pre(bwd) and s < -fmax) or initial() and w < 0;
    stuck = not (pre(mode) == 1 or fwd or pre(mode) == -1 or bwd);
    a = if stuck then 0 else if pre(mode) == 1 or fwd then s - fmax else s + fmax;
    tau = if stuck then s else if pre(mode) == 1 or fwd then fmax else -fmax;
    mode = if (pre(mode) == 1 or fwd) and w > 0 then 1 else if (pre(mode) == -1 or bwd) and w < 0 then -1 else 0;
  end Brake;
  Brake b1(fmax = 0.5), b2(fmax = 1.5);
  Real w(start = 0, fixed = true);
  Real load = 3*sin(time);
equation
  der(w) = load - b1.tau - b2.tau;
  b1.w = w; b2.w = w;
  b1.a = der(w); b2.a = der(w);
end UnequalBrakes;
