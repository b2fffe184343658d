model PingPong
  Real x(start=0,fixed=true); Boolean right(start=true,fixed=true); Integer hits(start=0,fixed=true);
equation
  der(x)=if right then 2 else -2;
  when {x>=1,x<=-1} then right = not pre(right); hits=pre(hits)+1; end when;
end PingPong;
