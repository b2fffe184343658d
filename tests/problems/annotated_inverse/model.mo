function root "sqrt(x), by Newton's iteration"
  input Real x;
  input Real scale;
  output Real y;
protected
  Real last;
algorithm
  y := x + 1;
  last := 0;
  while abs(y - last) > 1e-15*abs(y) loop
    last := y;
    y := (y + x/y)/2;
  end while;
  y := scale*y;
  annotation(inverse(x = square(y, scale)));
end root;
function square "Its inverse"
  input Real y;
  input Real scale;
  output Real x;
algorithm
  x := (y/scale)^2;
  if y < 0 then
    x := -1;
  end if;
end square;
model AnnotatedInverse "An equation that only the annotated inverse solves: where it has no solution the inverse says -1"
  Real x(start = 1), y;
equation
  y = 4 - 2*time;
  y = root(x, 2);
end AnnotatedInverse;
