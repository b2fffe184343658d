within Gears;
model Measured "Wheels counted in a file of the library"
  parameter String file = ModelicaServices.ExternalReferences.loadResource("modelica://Gears/Resources/Data/teeth.txt");
  parameter Integer wheels = countLines(file);
  Real teeth = wheels*time;
end Measured;
