model SlidesOfEight "Three of eight states are held at zero, each by itself"
  Real x[8](each start = 1, each fixed = true);
equation
  for i in 1:8 loop
    der(x[i]) = 0.3*sin(time + i) - (if i == 1 or i >= 7 then sign(x[i]) else 0);
  end for;
end SlidesOfEight;
