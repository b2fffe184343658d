within A.B;
final encapsulated partial package P "a package" + " with text"
  import Modelica.Units.SI;
  import D = Modelica.Math;
  import Modelica.Constants.*;
  import Modelica.Math.{sin, cos};
  extends Base(final a = 1, each b(start = {1, 2}), redeclare package M = X(y = 3) "t") annotation(Placement(visible = true));
  // a comment
  type T = Real[3](final unit = "m", min = -1e-3) "length" annotation(absoluteValue = true);
  type E = enumeration(a "first", b, 'c d' "third" annotation(Evaluate = true));
  type F = enumeration(:);
  connector C = input Real;
  expandable connector Bus end Bus;
  function g = der(f, x, y);
  operator record Complex "c"
    replaceable Real re "real", im;
    encapsulated operator 'constructor' "k"
      function fromReal
        input Real re;
        output Complex result(re = re, im = 0);
      algorithm
        annotation(Inline = true);
      end fromReal;
    end 'constructor';
    encapsulated operator function '*'
      input Complex a;
      output Complex b;
    algorithm
      b := a;
    end '*';
  end Complex;
  impure function f "fü"
    input Real x[:, size(x, 1)];
    input Integer n = size(x, 1);
    output Real y, z := 1;
  protected
    Integer i;
  external "C" y = f_c(x, n, size(x, 1)) annotation(Library = {"a", "b"}, Include = "#include \"f.h\"");
    annotation(derivative(noDerivative = n) = df, inverse(x = f_inv(y)));
  end f;
  redeclare function extends h(a = 2) "more"
    algorithm
      y := x;
  end h;
  replaceable package Medium = A.Water constrainedby A.Partial(x = 1) "m" annotation(choicesAllMatching = true);
  replaceable model N = Q;
  model R "the model"
    parameter Real p(start = 1, fixed = true) = 2 "a" annotation(Dialog(tab = "x", group = "y", enable = b and not c));
    inner outer World world;
    flow Real q;
    stream Real h;
    discrete Boolean b = false, c[2] = {true, false};
    constant Integer k := 3;
    Real[n] v[2] if use_v and k > 2;
    replaceable A.B comp(x.y = 1, redeclare replaceable Q r(final z = break) constrainedby S) constrainedby A.C annotation(choices(choice(redeclare A.D comp "d"), choice = 3));
    .Top.Level t;
  protected
    Real s = if a then b elseif c then d else e;
  initial equation
    der(x) = 0;
  equation
    x = -a^2 + b*c/d - [1, 2; 3, 4]*{1, 2} .* {i^2 for i in 1:3};
    (a, , c) = f(x, y = 2, g = function h(z = 1));
    connect(a.p[1], b.n) "wire" annotation(Line(points = {{-10, 0}, {10, 0}}, color = {0, 0, 255}));
    if a then
      x = 1;
    elseif b then
      x = 2;
    else
      x = 3;
    end if;
    for i in 1:n, j loop
      x[i, j] = y[end - 1, :];
    end for;
    when {initial(), sample(0, 0.1)} then
      reinit(x, pre(x));
    elsewhen x > 1 then
      terminate("done");
    end when "event";
    assert(x > 0 and not y < 1 or z <> 2, "text " + String(x), level = AssertionLevel.warning);
  algorithm
    x := sum(y[i] for i in 1:3);
    (a, b[1]) := f(x);
    (a) := f(x);
    if x == 1 then
      return;
    elseif x >= 2 then
      return;
    else
      f(x);
    end if;
    for i loop
      y := i;
    end for;
    while x < 10 loop
      x := x + 1;
    end while;
    when time > 1 then
      y := pure(f(1:2:3));
    elsewhen b then
      y := 2;
    end when;
  initial algorithm
    y := .5;
  public
    Real late;
    annotation(
      Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {Text(extent = {{-1, 1}, {1, -1}}, textString = "%name"), Line(points = {{0, 0}, {1, 1}}, color = DynamicSelect({0, 0, 0}, if b then {1, 2, 3} else {0, 0, 0}))}),
      experiment(StopTime = 1.5, Tolerance = 1e-6, __Vendor_x(a = {1, 2})),
      __Vendor_y = true,
      Documentation(info = "<html>\"quoted\"</html>"));
  end R;
end P;
