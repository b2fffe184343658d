model BridgeWithoutLoss "full bridge of ideal diodes on a resistor: all four are at zero where the source is"
  parameter Real f = 1;
  Real s[4], v[4], i[4], u, vr, is, a, b;
  Boolean off[4];
equation
  u = 10*sin(2*3.141592653589793*f*time);
  for k in 1:4 loop
    off[k] = s[k] < 0;
    v[k] = s[k]*(if off[k] then 1 else 0);
    i[k] = s[k]*(if off[k] then 0 else 1);
  end for;
  a - b = u;
  v[1] = a - vr;
  v[2] = b - vr;
  v[3] = -a;
  v[4] = -b;
  is = i[1] - i[3];
  is + i[2] - i[4] = 0;
  vr = 5*(i[1] + i[2]);
end BridgeWithoutLoss;
