model TerminateState
  Real x(start=1,fixed=true);
equation
  der(x)=-x;
  when x<0.5 then terminate("half"); end when;
end TerminateState;
