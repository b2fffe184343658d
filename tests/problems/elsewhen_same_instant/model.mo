model ElseWhenSame
  Integer a(start=0,fixed=true), b(start=0,fixed=true);
equation
  when time>=0.5 then a=1; elsewhen time>=0.5 then a=2; end when;
  when sample(0.25,0.25) then b=pre(b)+1; elsewhen time>=0.5 then b=100; end when;
end ElseWhenSame;
