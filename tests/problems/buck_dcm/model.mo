model BuckDcm "buck converter in discontinuous conduction"
  Real i(start=0,fixed=true), vx, is, id, sd;
  Boolean on, off;
equation
  on = time - floor(time) < 0.2;
  der(i) = vx - 5;
  i = is + id;
  if on then vx = 10; else is = 0; end if;
  off = sd < 0;
  -vx = if off then sd else 0;
  id = if off then 0 else sd;
end BuckDcm;
