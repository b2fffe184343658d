model RelaysManyProduct "Eight relays that act on each other, two of them also by their product"
  constant Integer n = 8;
  parameter Real B[n, n] = {{if i == j then -4 else 0.5*cos(i*j) for j in 1:n} for i in 1:n};
  Real x[n](each start = 0, each fixed = true);
  Real s[n] = {if x[i] > 0 then 1 else -1 for i in 1:n};
equation
  for i in 1:n loop
    der(x[i]) = 3.5*sin((0.5 + 0.1*i)*time + i) + 0.6*sin(i)*s[1]*s[2] + sum(B[i, j]*s[j] for j in 1:n);
  end for;
end RelaysManyProduct;
