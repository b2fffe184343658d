within Gears;
model Axle
  Real x = time;
end Axle;
