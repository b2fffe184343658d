model IdleRoused "Relations that idle from event to event, with memories toggled between"
 Real x(start=0,fixed=true),y(start=1,fixed=true);
 Boolean on, m(start=false,fixed=true);
 Boolean b0; Integer n0(start=0,fixed=true); Real z0(start=0,fixed=true);
 Boolean b1; Integer n1(start=0,fixed=true); Real z1(start=0,fixed=true);
 Boolean b2; Integer n2(start=0,fixed=true); Real z2(start=0,fixed=true);
equation
 der(x)=y; der(y)=-x;
 on = time>=1.539 and time<7.928 or time>=10.706;
 when sin(3*x) - 0.3222 > 0.05 then m = not pre(m); end when;
 b0 = ((((((time > 10.887) or (on))) or (pre(m)))) or (pre(m)));
 when b0 then n0=pre(n0)+1; end when;
 der(z0) = if b0 then 1 else 0;
 b1 = on;
 when b1 then n1=pre(n1)+1; end when;
 der(z1) = if b1 then 1 else 0;
 b2 = ((pre(m)) and (((not (time > 10.887)) and (not (x*y - 0.0499 > 0)))));
 when b2 then n2=pre(n2)+1; end when;
 der(z2) = if b2 then 1 else 0;
end IdleRoused;
