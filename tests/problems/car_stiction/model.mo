model Car
  type M=enumeration(Forward,Stuck,Backward);
  Real v(start=2,fixed=true),f,x(start=0,fixed=true); M m(start=M.Forward,fixed=true); Real drive= if time<4 then 0 elseif time<6 then 0.5 else 3;
equation
  der(x)=v; der(v)=drive-f;
  when v<=0 and pre(m)==M.Forward then m=M.Stuck; elsewhen pre(m)==M.Stuck and f>1 then m=M.Forward; end when;
  if m==M.Forward then f=1; elseif m==M.Stuck then v=0; else f=-1; end if;
end Car;
