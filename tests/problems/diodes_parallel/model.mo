model Parallel "two ideal diodes in parallel: share open"
  Real u=10*sin(time); Real i1,i2,v,s1,s2; Boolean o1,o2;
equation
  o1=s1<0; o2=s2<0;
  v=if o1 then s1 else 0; i1=if o1 then 0 else s1;
  v=if o2 then s2 else 0; i2=if o2 then 0 else s2;
  u=v+2*(i1+i2);
end Parallel;
