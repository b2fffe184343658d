model StuckShafts "Two shafts, a clutch between them and brakes on them, one applied at 0.8: all stuck, whatever share of the torque each takes"
  model Brake
    input Real fmax;
    parameter Real peak = 1;
    Real w, a, tau, s;
    Boolean free = fmax <= 0, fwd, bwd, stuck;
    Integer mode(start = 0, fixed = true);
  equation
    fwd = pre(mode) == 0 and (s > peak*fmax or pre(fwd) and s > fmax) or initial() and w > 0;
    bwd = pre(mode) == 0 and (s < -peak*fmax or pre(bwd) and s < -fmax) or initial() and w < 0;
    stuck = not free and not (pre(mode) == 1 or fwd or pre(mode) == -1 or bwd);
    a = if stuck then 0 else if free then s else if pre(mode) == 1 or fwd then s - fmax else s + fmax;
    tau = if stuck then s else if free then 0 else if pre(mode) == 1 or fwd then fmax else -fmax;
    mode = if free then 2 else if (pre(mode) == 1 or pre(mode) == 2 or fwd) and w > 0 then 1 else
      if (pre(mode) == -1 or pre(mode) == 2 or bwd) and w < 0 then -1 else 0;
  end Brake;
  Brake b1(fmax = 0.48), b2(fmax = 0.32), b3(fmax = if time < 0.8 then 0 else 0.4), clutch(fmax = 2.9);
  Real w1(start = 0, fixed = true), w2(start = 0, fixed = true);
equation
  1.4*der(w1) = 0.7*sin(3.7*time) - b1.tau - b3.tau - clutch.tau;
  1.4*der(w2) = clutch.tau - b2.tau;
  b1.w = w1; b2.w = w2; b3.w = w1; clutch.w = w1 - w2;
  b1.a = der(w1); b2.a = der(w2); b3.a = der(w1); clutch.a = der(w1) - der(w2);
end StuckShafts;
