model Chain "20 shafts, 19 clutches, driven at random"
  parameter Integer n = 20;
  Real w[n](start = {-5.591, -5.463, -6.066, -5.913, 2.481, 8.006, 6.809, -0.411, 3.06, 5.993, -8.304, 3.212, 8.196, 5.646, 5.003, -0.439, -6.43, 5.783, -3.35, 6.016}, each fixed = true);
  Real tau[n + 1];
  Real h annotation(__Saltus_conserved = true);
  Boolean on[n - 1];
equation
  tau[1] = 0;
  tau[n + 1] = 0;
  for i in 1:n loop
    (1 + 0.1*i)*der(w[i]) = tau[i] - tau[i + 1];
  end for;
  for i in 1:n - 1 loop
    if on[i] then w[i] = w[i + 1]; else tau[i + 1] = 0; end if;
  end for;

  on[1] = time >= 4.212070 and time < 6.241894 or time >= 7.671192 and time < 15.434068 or time >= 32.559444 and time < 36.703203 or time >= 43.430923 and time < 50.736138 or time >= 53.552318 and time < 64.942513;
  on[2] = time >= 7.415687 and time < 9.480588 or time >= 12.756394 and time < 22.600657 or time >= 39.771367 and time < 42.527400 or time >= 57.633192 and time < 62.615889 or time >= 82.358360 and time < 94.323185;
  on[3] = time >= 5.111685 and time < 12.161432 or time >= 14.781253 and time < 18.391912 or time >= 29.171319 and time < 31.039701 or time >= 58.078416 and time < 81.296510 or time >= 85.488377 and time < 97.149255;
  on[4] = time >= 6.400516 and time < 6.716109 or time >= 20.889913 and time < 31.600570 or time >= 37.367357 and time < 42.831638 or time >= 54.726702 and time < 58.470624 or time >= 63.752433 and time < 67.859597;
  on[5] = time >= 24.665555 and time < 29.005839 or time >= 30.176933 and time < 45.365253 or time >= 52.494454 and time < 57.367947 or time >= 69.700449 and time < 72.715084 or time >= 79.143569 and time < 87.138612;
  on[6] = time >= 4.381518 and time < 12.188512 or time >= 15.546469 and time < 41.894159 or time >= 48.907347 and time < 57.229568 or time >= 66.653370 and time < 75.456952 or time >= 76.192516 and time < 97.537310;
  on[7] = time >= 31.561004 and time < 45.664328 or time >= 47.435735 and time < 57.909625 or time >= 59.342618 and time < 66.251068 or time >= 69.334241 and time < 83.656810 or time >= 87.172303 and time < 94.023428;
  on[8] = time >= 2.733730 and time < 6.506273 or time >= 28.674958 and time < 38.693353 or time >= 46.207833 and time < 64.565757 or time >= 66.696619 and time < 69.947710 or time >= 81.870554 and time < 98.816498;
  on[9] = time >= 6.336488 and time < 8.477549 or time >= 12.092484 and time < 13.304682 or time >= 17.136790 and time < 25.013869 or time >= 39.204021 and time < 44.969553 or time >= 76.555066 and time < 86.770775;
  on[10] = time >= 15.441170 and time < 28.063685 or time >= 36.018345 and time < 41.614355 or time >= 54.894551 and time < 81.608704 or time >= 86.034463 and time < 87.954999 or time >= 88.035090 and time < 95.315389;
  on[11] = time >= 0.905267 and time < 17.945555 or time >= 23.463730 and time < 23.600272 or time >= 26.511915 and time < 37.056104 or time >= 41.975704 and time < 48.511310 or time >= 56.567781 and time < 58.823227;
  on[12] = time >= 5.845296 and time < 51.533652 or time >= 61.641682 and time < 67.443808 or time >= 68.858872 and time < 77.716980 or time >= 79.489439 and time < 87.076805 or time >= 89.553768 and time < 94.856695;
  on[13] = time >= 5.704985 and time < 6.662534 or time >= 7.167414 and time < 10.750172 or time >= 16.568016 and time < 21.167555 or time >= 34.165312 and time < 39.345512 or time >= 39.998904 and time < 63.294667;
  on[14] = time >= 0.523095 and time < 3.024588 or time >= 10.544972 and time < 15.206498 or time >= 15.475228 and time < 25.473518 or time >= 34.891565 and time < 36.497382 or time >= 61.292830 and time < 87.058905;
  on[15] = time >= 9.002581 and time < 10.616574 or time >= 12.661381 and time < 26.710932 or time >= 34.420948 and time < 36.552181 or time >= 46.632956 and time < 48.399631 or time >= 84.544756 and time < 98.817169;
  on[16] = time >= 2.786476 and time < 3.177207 or time >= 15.013651 and time < 16.482422 or time >= 52.782835 and time < 52.797482 or time >= 54.274070 and time < 82.556682 or time >= 94.647572 and time < 97.371623;
  on[17] = time >= 17.037161 and time < 22.581126 or time >= 26.350405 and time < 33.136835 or time >= 36.803279 and time < 53.226647 or time >= 69.423482 and time < 76.921853 or time >= 77.626434 and time < 85.969178;
  on[18] = time >= 3.369035 and time < 22.947210 or time >= 35.700692 and time < 51.746234 or time >= 73.747429 and time < 80.301780 or time >= 80.839613 and time < 81.514961 or time >= 84.910251 and time < 98.007679;
  on[19] = time >= 3.265770 and time < 26.158262 or time >= 28.162435 and time < 36.598953 or time >= 44.775540 and time < 69.059672 or time >= 93.265099 and time < 95.045063 or time >= 95.194993 and time < 98.315768;
  h = sum((1 + 0.1*i)*w[i] for i in 1:n);
end Chain;
