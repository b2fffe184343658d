model RefusedRunStart
  Real x(start=0,fixed=true), y;
  Boolean b(start=true,fixed=true);
equation
  der(x)=1;
  when x > 0.5 then b = false; end when;
  if b then x = 3; x + 0*y= 4; else y = 1; end if;
end RefusedRunStart;
