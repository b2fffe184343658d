model WhenNestedIf
  Real x(start=0,fixed=true); Integer a(start=0,fixed=true), b(start=0,fixed=true); parameter Boolean on=true;
equation
  der(x)=1;
  when sample(0.1,0.1) then
    if x<0.55 then a=pre(a)+1; b=pre(b); else a=pre(a); b=pre(b)+1; end if;
  end when;
end WhenNestedIf;
