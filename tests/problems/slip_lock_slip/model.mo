model SlipLock "clutch that slips until speeds agree, locks, and slips again when overloaded"
  Real w1(start=4,fixed=true),w2(start=0,fixed=true),tau; Boolean locked(start=false,fixed=true); Real load=if time<3 then 0 else 3*(time-3);
equation
  der(w1)=-tau; der(w2)=tau-load;
  when not pre(locked) and w1-w2<=0 then locked=true; elsewhen pre(locked) and tau>1 then locked=false; end when;
  if locked then w1=w2; else tau=1; end if;
end SlipLock;
