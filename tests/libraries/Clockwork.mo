model Clockwork
  extends Gears.Axle;
  Gears.Train train;
  annotation(uses(Gears(version = "2.0.0")));
end Clockwork;
