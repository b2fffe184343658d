within Doubles;
model Bolt
  Real x = 2;
end Bolt;
