model ElseWhen
  Real x(start=0,fixed=true); discrete Real y(start=0,fixed=true);
equation
  der(x)=1;
  when x>0.5 then y=1; elsewhen time>=0.25 then y=2; elsewhen x>0.5 then y=3; elsewhen x>0.75 then y=4; end when;
end ElseWhen;
