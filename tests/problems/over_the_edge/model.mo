model OverTheEdge "A block slides over the edge of a table, falls and goes on on the floor"
  Real x(start = 0, fixed = true), y(start = 1), vx(start = 1, fixed = true), vy, N;
  Integer m(start = 0, fixed = true);
equation
  der(x) = vx; der(y) = vy; der(vx) = 0; der(vy) = N - 9.81;
  when x >= 1 then m = 1; elsewhen y <= 0 then m = 2; end when;
  if m == 0 then y = 1; elseif m == 1 then N = 0; else y = 0; end if;
end OverTheEdge;
