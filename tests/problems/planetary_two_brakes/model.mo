model PlanetaryTwoBrakes "A planetary gear; brakes on sun and ring hold one after the other, for a while both"
  Real ws(start=5,fixed=true), wr(start=1,fixed=true), wc, ts, tr, tc, bs, br;
equation
  ws + 2*wr = 3*wc;
  1*der(ws) = ts + bs; 2*der(wr) = tr + br; 4*der(wc) = tc + 1;
  tr = 2*ts; tc = -3*ts;
  if time >= 1 and time < 2 then ws = 0; else bs = 0; end if;
  if time >= 1.5 and time < 2.5 then wr = 0; else br = 0; end if;
end PlanetaryTwoBrakes;
