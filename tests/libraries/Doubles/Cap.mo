within Doubles;
model Cap
  Real x = 3;
end Cap;
