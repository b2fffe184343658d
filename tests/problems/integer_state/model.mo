model IntegerState
  Real x(start=0,fixed=true), y(start=0,fixed=true); Integer k;
equation
  der(x)=3; k=integer(x); der(y)=k;
end IntegerState;
