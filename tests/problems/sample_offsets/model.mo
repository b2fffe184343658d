model SampleOffsets
  Integer a(start=0,fixed=true), b(start=0,fixed=true), ab(start=0,fixed=true), neg(start=0,fixed=true);
equation
  when sample(0,0.1) then a=pre(a)+1; end when;
  when sample(0.05,0.1) then b=pre(b)+1; end when;
  when {sample(0,0.2),sample(0.1,0.3)} then ab=pre(ab)+1; end when;
  when sample(-0.25,0.5) then neg=pre(neg)+1; end when;
end SampleOffsets;
