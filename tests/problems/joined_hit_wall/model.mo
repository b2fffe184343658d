model JoinedHitWall "Two joined masses are stopped by a wall, then pushed off"
  Real x1(start=0,fixed=true), x2(start=1,fixed=true), v1(start=2,fixed=true), v2(start=2,fixed=true), f, n;
  Boolean wall(start=false,fixed=true);
equation
  der(x1)=v1; der(x2)=v2; der(v1)=-f; 3*der(v2)=f-n;
  x2 - x1 = 1;
  when x2 >= 2 then wall = true; elsewhen time >= 1.5 then wall = false; end when;
  if wall then v2 = 0; else n = if time > 1.4 then 4 else 0; end if;
end JoinedHitWall;
