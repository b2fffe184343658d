model RectifierDense "Three inductors that diodes switch off within 1e-8 s feed two capacitors: some sixty events; dense output that swings makes thousands"
  parameter Real L = 1e-3, C = 0.1, R = 20, Ron = 1e-5, Goff = 1e-5;
  Real i[3](each start = 0, fixed = {true, true, false}), u[3], v[3];
  Real vp(start = 50, fixed = true), vn(start = -50, fixed = true);
  Real sp[3](each start = 0), sn[3](each start = 0), ip[3], ineg[3];
  Boolean offp[3](each start = true), offn[3](each start = true);
  Integer n(start = 0, fixed = true);
  Real vN;
equation
  sum(i) = 0;
  for k in 1:3 loop
    v[k] = 100*sin(2*3.141592653589793*50*time - (k - 1)*2*3.141592653589793/3);
    L*der(i[k]) = v[k] + vN - u[k];
    offp[k] = sp[k] < 0;
    offn[k] = sn[k] < 0;
    u[k] - vp = sp[k]*(if offp[k] then 1 else Ron);
    ip[k] = sp[k]*(if offp[k] then Goff else 1);
    vn - u[k] = sn[k]*(if offn[k] then 1 else Ron);
    ineg[k] = sn[k]*(if offn[k] then Goff else 1);
    i[k] = ip[k] - ineg[k];
  end for;
  C*der(vp) = sum(ip) - (vp - vn)/R;
  C*der(vn) = -sum(ineg) + (vp - vn)/R;
  when {change(offp[1]), change(offp[2]), change(offp[3]), change(offn[1]), change(offn[2]), change(offn[3])} then
    n = pre(n) + 1;
  end when;
end RectifierDense;
