model Inactive2
  Real x(start=1,fixed=true),z(start=2);
equation
  der(x)=-x;
  if time>=1 then der(z)=z; end if;
end Inactive2;
