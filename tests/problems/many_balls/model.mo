model ManyBalls "balls that come to rest one after the other, most while others still bounce"
  parameter Integer n = 30;
  Real h[n], v[n];
  Real s(start = 0, fixed = true) "how much of them is in the air";
initial equation
  for i in 1:n loop
    h[i] = 1 + 0.05*i;
    v[i] = 0;
  end for;
equation
  for i in 1:n loop
    der(h[i]) = v[i];
    der(v[i]) = -9.81;
    when h[i] <= 0 then
      reinit(v[i], -0.8*pre(v[i]));
    end when;
  end for;
  der(s) = sum(h);
end ManyBalls;
