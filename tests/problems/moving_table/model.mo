model MovingTable
  Real h(start=1,fixed=true), v(start=0,fixed=true), z, w;
equation
  z = 0.1*sin(time); w = 0.1*cos(time);
  der(h)=v; der(v)=-10;
  when h<=z then reinit(v, w-0.3*(pre(v)-w)); end when;
end MovingTable;
