model WhenInitial
  discrete Real a(start=0,fixed=true), b(start=0); Real x(start=2,fixed=true);
equation
  der(x)=-1;
  when {initial(), x<1} then b=x; end when;
  when x<1 then a=pre(b); end when;
end WhenInitial;
