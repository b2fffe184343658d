model Sawtooth
  Real x(start=0,fixed=true), y(start=0,fixed=true);
equation
  der(x)=1; der(y)=x;
  when sample(0.1,0.1) then reinit(x,0); end when;
end Sawtooth;
