model OscillatorCount
  Real x(start=1,fixed=true), v(start=0,fixed=true); Integer up(start=0,fixed=true), down(start=0,fixed=true);
equation
  der(x)=v; der(v)=-x;
  when x>0 then up=pre(up)+1; end when;
  when x<=0 then down=pre(down)+1; end when;
end OscillatorCount;
