model Nested
  type K=enumeration(A,B,C);
  K k; Real x(start=1,fixed=true),y,u; Boolean f;
equation
  k = if time<1 then K.A elseif time<2 then K.B else K.C;
  f = time>0.5 and time<2.5;
  der(x)=u;
  if k==K.A then if f then u=-x; y=2; else u=1; y=x; end if;
  elseif k==K.B then x=3; y=u+time;
  else if f then y=x; u=y; else y=5; x=7; end if; end if;
end Nested;
