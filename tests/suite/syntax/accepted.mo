Forms of the grammar that are easily got wrong.

--- comments-and-quoted-names flatten ---
// a line
model 'a model' /* a block */
  Real 'x y' = 1 "first" annotation(Dialog(group = "g"));
  Real z = 'x y' "with \"quotes\" and \n an escape";
end 'a model';

--- expect ---
model 'a model'
  Real 'x y';
  Real z;
equation
  'x y' = 1;
  z = 'x y';
end 'a model';

--- elementwise-operators flatten ---
model M
  Real a[2] = {1, 2} .* {3, 4} .^ 2;
  Real b = -2^2;
  Real c = if not 1 > 2 and 3 <> 4 then 1 else 0;
end M;

--- expect ---
model M
  Real a[1];
  Real a[2];
  Real b;
  Real c;
equation
  a[1] = 9;
  a[2] = 32;
  b = -4;
  c = 1;
end M;

--- numbers flatten ---
model M
  parameter Real a = 1e-3, b = .5, c = 2., d = 1E+3;
  parameter Integer n = 007;
end M;
--- expect ---
model M
  parameter Real a = 0.001;
  parameter Real b = 0.5;
  parameter Real c = 2;
  parameter Real d = 1000;
  parameter Integer n = 7;
equation
end M;

--- elseif-expression flatten ---
model M
  parameter Integer k = 2;
  Real x = if k == 1 then time elseif k == 2 then 2*time else 0;
end M;
--- expect ---
model M
  parameter Integer k = 2;
  Real x;
equation
  x = 2*time;
end M;

--- tree parse ---
model M
  parameter Real p(min = 0) = 2 "a parameter";
  Real x;
equation
  der(x) = -p*x;
end M;
--- expect ---
model M
  parameter Real p(min = 0) = 2 "a parameter"
  Real x
  equation
    der(x) = -p * x
