package Gears "A library with C code in its Resources"
  function ratio "Computed by Resources/Source/gears.c"
    input Real teeth[2];
    output Real r;
  external "C" r = gears_ratio(teeth, size(teeth, 1))
    annotation(Include = "#include \"gears.h\"", Library = "gears");
  end ratio;
  function countLines "The lines of a file"
    input String fileName;
    output Integer n;
  external "C" n = ModelicaInternal_countLines(fileName);
  end countLines;
  annotation(version = "1.2.0", uses(Modelica(version = "4.1.0")));
end Gears;
