Functions that ask for events (`GenerateEvents = true`) have them at their own relations and integer parts, others have none.

--- pieces-of-a-function simulate --stop 3 --intervals 1 ---
// x = 1 is reached at t = 1, x = 2 at t = 1.5; the end is at x = 8.
model M
  function steps
    input Real u;
    output Real y;
  algorithm
    if u < 1 then
      y := 1;
    elseif u < 2 then
      y := 2;
    else
      y := 4;
    end if;
    annotation(GenerateEvents = true, Inline = true);
  end steps;
  Real x(start = 0, fixed = true);
equation
  der(x) = steps(x);
end M;
--- expect ---
time,x
0.0,0.0
1.000000000001818,1.000000000001818
1.000000000001818,1.000000000001818
1.500000000002272,2.000000000002726
1.500000000002272,2.000000000002726
3.0,7.99999999999364

--- functions-with-boundaries simulate --stop 2 --intervals 1 ---
// A function that asks for events has them at its own relation, one that does not has none.
model M
  function loud
    input Real u;
    output Real y;
  algorithm
    y := if u > 0.75 then 1 else 0;
    annotation(GenerateEvents = true, Inline = true);
  end loud;
  function quiet
    input Real u;
    output Real y;
  algorithm
    y := if u > 1.25 then 1 else 0;
  end quiet;
  Real x(start = 0, fixed = true), a = loud(x), b = quiet(x);
equation
  der(x) = 1;
end M;
--- expect ---
time,x,a,b
0.0,0.0,0.0,0.0
0.7500000000013636,0.7500000000013636,0.0,0.0
0.7500000000013636,0.7500000000013636,1.0,0.0
2.0,2.0,1.0,1.0
