model Pwm
  parameter Real T=0.01; discrete Real t0(start=0,fixed=true); Boolean on; Real i(start=0,fixed=true); Real duty=0.3;
equation
  when sample(0,T) then t0=time; end when;
  on = time < t0+duty*T;
  der(i)=if on then 1 else 0;
end Pwm;
