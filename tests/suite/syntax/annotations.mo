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

--- results-that-are-not-shown simulate --stop 1 --intervals 1 ---
// HideResult speaks of a variable or of all that a component holds; what is said closest counts.
model Part
  Real u = 2*time;
  Real seen = 3*time annotation(HideResult = false);
end Part;
model M
  Real x(start = 1, fixed = true) annotation(HideResult = true);
  Real y = x + 1;
  Part shown, part annotation(HideResult = true);
  parameter Real p = 2 annotation(HideResult = true);
equation
  der(x) = 0;
end M;
--- expect ---
time,y,shown.u,shown.seen,part.seen
0.0,2.0,0.0,0.0,0.0
1.0,2.0,2.0,3.0,3.0

--- results-asked-for-by-name-are-shown simulate --stop 1 --intervals 1 --variables x,part.u ---
model Part
  Real u = 2*time;
end Part;
model M
  Real x(start = 1, fixed = true) annotation(HideResult = true);
  Real y = x + 1;
  Part part annotation(HideResult = true);
equation
  der(x) = 0;
end M;
--- expect ---
time,x,part.u
0.0,1.0,0.0
1.0,1.0,2.0

--- smooth-order-is-taken-over simulate --stop 2 --intervals 1 --variables right ---
// A function whose author says how often it can be differentiated: the integral of max(0, t - 1)^2 from 0 to 2 is 1/3.
function ramp
  input Real x;
  output Real y;
algorithm
  y := if x > 1 then (x - 1)^2 else 0;
  annotation(smoothOrder = 1, Inline = false);
end ramp;
model M
  Real x(start = 0, fixed = true);
  discrete Boolean right(start = false, fixed = true);
equation
  der(x) = ramp(time);
  when terminal() then
    right = abs(x - 1/3) < 1e-4;
  end when;
end M;
--- expect ---
time,right
0.0,false
2.0,false
2.0,true

--- inlined-or-not-functions-mean-the-same simulate --stop 0 ---
// Arguments are evaluated once in any case; the value is the same with all four annotations.
function a
  input Real x;
  output Real y = x^2 + x;
algorithm
  annotation(Inline = true);
end a;
function b
  input Real x;
  output Real y = x^2 + x;
algorithm
  annotation(LateInline = true);
end b;
function c
  input Real x;
  output Real y = x^2 + x;
algorithm
  annotation(InlineAfterIndexReduction = true);
end c;
function d
  input Real x;
  output Real y = x^2 + x;
algorithm
  annotation(Inline = false, __Other_inline = true);
end d;
model M
  Real v[4] = {a(3 + time), b(3 + time), c(3 + time), d(3 + time)};
end M;
--- expect ---
time,v[1],v[2],v[3],v[4]
0.0,12.0,12.0,12.0,12.0

--- annotations-of-pictures-and-dialogs-are-read-like-all-others error check ---
model M
  parameter Real p = 1 annotation(choices(choice = 1 "one", choice = 2 "two"), Dialog(tab = "General", group = ));
  Real x = p annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
  Real y = p annotation(Placement(transformation(extent = {{-10, -10}, {10, 10})));
end M;
--- expect ---
exit: 3
--> model.mo:2:
--> model.mo:4:
