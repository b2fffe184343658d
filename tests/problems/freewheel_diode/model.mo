model FreewheelDiode
  Real i(start=0,fixed=true), vx, is, id, sd;
  Boolean on, off;
equation
  on = time - floor(time) < 0.4;
  der(i) = vx - i;
  i = is + id;
  if on then vx = 10; else is = 0; end if;
  off = sd < 0;
  -vx = if off then sd else 0;
  id = if off then 0 else sd;
end FreewheelDiode;
