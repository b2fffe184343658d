Annotations: kept in the tree wherever they may stand, and looked at where they mean something.

--- annotations-in-the-tree parse ---
model M "text"
  parameter Integer n = 2 "count" annotation (Evaluate = true, Dialog(tab = "T", group = "G"), choices(choice = 1 "one", choice = 2 "two"));
  replaceable model R = A constrainedby A annotation (choicesAllMatching = true);
  A a annotation (Placement(transformation(extent = {{-10, -10}, {10, 10}}, rotation = 90)));
  model A Real x = 1; annotation (Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}})})); end A;
  connector C Real v; flow Real i; end C;
  C c, d;
equation
  connect(c, d) annotation (Line(points = {{0, 0}, {1, 1}}, color = {0, 0, 255}));
  annotation (experiment(StopTime = 2, Interval = 1), Diagram(coordinateSystem(extent = {{-1, -1}, {1, 1}})), __Vendor(a = 1, b(c = "x")), Documentation(info = "<html></html>"));
end M;

--- expect ---
model M "text"
  parameter Integer n = 2 "count"
    annotation
      Evaluate = true
      Dialog(tab = "T", group = "G")
      choices(choice = 1 "one", choice = 2 "two")
  replaceable model R = A constrainedby A
    annotation
      choicesAllMatching = true
  A a
    annotation
      Placement(transformation(extent = {{-10, -10}, {10, 10}}, rotation = 90))
  model A
    Real x = 1
    annotation
      Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}})})
  connector C
    Real v
    flow Real i
  C c, d
  equation
    connect(c, d)
      annotation
        Line(points = {{0, 0}, {1, 1}}, color = {0, 0, 255})
  annotation
    experiment(StopTime = 2, Interval = 1)
    Diagram(coordinateSystem(extent = {{-1, -1}, {1, 1}}))
    __Vendor(a = 1, b(c = "x"))
    Documentation(info = "<html></html>")

--- experiment-says-from-where-to-where simulate ---
model M
  Real x = time;
  annotation (experiment(StartTime = 1, StopTime = 3, Interval = 1));
end M;

--- expect ---
time,x
1.0,1.0
2.0,2.0
3.0,3.0

--- evaluate-puts-the-value-in flatten ---
model M
  parameter Integer n = 2 annotation (Evaluate = true);
  parameter Real k = 3 annotation (Evaluate = true);
  final parameter Real f = 4;
  Real x = n*k*time + f;
end M;

--- expect ---
model M
  parameter Integer n = 2;
  parameter Real k = 3;
  parameter Real f = 4;
  Real x;
equation
  x = 6*time + f;
end M;

--- attributes-of-all-kinds flatten ---
model M
  Real x(start = 1, fixed = true, unit = "m", displayUnit = "mm", quantity = "Length", min = 0, max = 10, nominal = 5, stateSelect = StateSelect.prefer, unbounded = true);
equation
  der(x) = -x;
end M;

--- expect ---
model M
  Real x(start = 1, min = 0, max = 10, nominal = 5, unit = "m", displayUnit = "mm", fixed = true);
equation
  der(x) + x = 0;
end M;

--- an-annotation-that-is-not-closed error check ---
model M
  Real x = 1 annotation (Dialog(tab = "a");
  Real y = z;
end M;

--- expect ---
exit: 3
error: expected `,` or `)`, found `;`
--> model.mo:2:43

--- two-values-in-an-annotation error check ---
model M
  Real x = 1;
  annotation (experiment(StopTime = 1 2));
end M;
--- expect ---
exit: 3
error: expected `,` or `)`, found number `2`
--> model.mo:3:39
