model Rope
  parameter Real L=1; Real x1(start=0,fixed=true),v1(start=0,fixed=true),x2(start=0.5,fixed=true),v2(start=1,fixed=true),T; Boolean taut(start=false,fixed=true);
equation
  der(x1)=v1; der(x2)=v2; 1*der(v1)=T; 3*der(v2)=-T - (if time>2 then 3 else 0);
  when x2-x1>=L then taut=true; elsewhen pre(taut) and T<0 then taut=false; end when;
  if taut then x2-x1=L; else T=0; end if;
end Rope;
