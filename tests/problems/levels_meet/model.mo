model LevelsMeet "two tanks: the flow is the root of the difference of the levels, which meet at t = 1"
  Real h1(start=1,fixed=true),h2(start=0,fixed=true),q;
equation
  q = if h1>h2 then sqrt(h1-h2) else -sqrt(h2-h1);
  der(h1)=-q; der(h2)=q;
end LevelsMeet;