model TwoDiodes "full-wave rectifier of two ideal diodes without any state: at the start both conduct, which goes on for no time"
  Real u = sin(time);
  Real i1, v1, s1, i2, v2, s2, vo, io;
equation
  v1 = if s1 < 0 then s1 else 0;
  i1 = if s1 < 0 then 0 else s1;
  v2 = if s2 < 0 then s2 else 0;
  i2 = if s2 < 0 then 0 else s2;
  v1 = u - vo;
  v2 = -u - vo;
  io = i1 + i2;
  vo = 2*io;
end TwoDiodes;
