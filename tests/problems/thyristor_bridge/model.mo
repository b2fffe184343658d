model ThyristorBridge "six thyristors, R-L load, firing delayed by 30 degrees"
  parameter Real V=100, f=50, R=1, L=0.01, Ron=1e-3, Goff=1e-3; constant Real pi=3.141592653589793;
  Real vs[3], s[6], vt[6], it[6], vp, vn, vd, i(start=0,fixed=true); Boolean off[6](each start=true,each fixed=true), fire[6];
  parameter Real a=1/600; // 30 degrees
equation
  for k in 1:3 loop vs[k]=V*sin(2*pi*f*time-(k-1)*2*pi/3); end for;
  for k in 1:3 loop
    fire[k] = mod(time-(1/600+(k-1)/150+a)+0.04,0.02)<0.0067;
    fire[k+3] = mod(time-(1/600+(k-1)/150+a+0.01)+0.04,0.02)<0.0067;
    vt[k]=vs[k]-vp; vt[k+3]=vn-vs[k];
  end for;
  for k in 1:6 loop
    off[k] = s[k]<0 or pre(off[k]) and not fire[k];
    vt[k]=s[k]*(if off[k] then 1 else Ron); it[k]=s[k]*(if off[k] then Goff else 1);
  end for;
  it[1]+it[2]+it[3]=i; it[4]+it[5]+it[6]=i;
  vd=vp-vn; L*der(i)=vd-R*i;
end ThyristorBridge;
