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

--- thresholds-in-a-loop simulate --stop 1 --intervals 1 ---
// A loop whose ends are known is unrolled: each of its relations is an event. The function need not ask to be inlined.
model M
  function count "How many thresholds are passed"
    input Real u;
    input Real[:] at;
    output Real y;
  algorithm
    y := 0;
    for i in 1:size(at, 1) loop
      if u > at[i] then
        y := y + 1;
      end if;
    end for;
    annotation(GenerateEvents = true);
  end count;
  Real x(start = 0, fixed = true), n = count(x, {0.25, 0.5, 0.875});
equation
  der(x) = 1;
end M;
--- expect ---
time,x,n
0.0,0.0,0.0
0.2500000000004545,0.2500000000004545,0.0
0.2500000000004545,0.2500000000004545,1.0
0.500000000000909,0.500000000000909,1.0
0.500000000000909,0.500000000000909,2.0
0.8750000000015908,0.8750000000015908,2.0
0.8750000000015908,0.8750000000015908,3.0
1.0,1.0,3.0

--- no-event-inside-a-function simulate --stop 1 --intervals 1 ---
// noEvent counts inside a function that asks for events, and so does another function that does not ask.
model M
  function quiet
    input Real u;
    output Real y;
  algorithm
    y := if u > 0.125 then 1 else 0;
  end quiet;
  function f
    input Real u;
    output Real y;
  protected
    Boolean b, c;
  algorithm
    b := u > 0.25;
    c := noEvent(u > 0.75);
    y := (if b then 1 else 0) + (if c then 1 else 0) + quiet(u);
    annotation(GenerateEvents = true);
  end f;
  Real x(start = 0, fixed = true), y = f(x);
equation
  der(x) = 1;
end M;
--- expect ---
time,x,y
0.0,0.0,0.0
0.2500000000004545,0.2500000000004545,1.0
0.2500000000004545,0.2500000000004545,2.0
1.0,1.0,3.0

--- integer-parts-of-a-function simulate --stop 1.2 --intervals 1 ---
// mod at 0.5 and 1, div at 0.75, sign at 0.125, the ceiling at 0.25 and 1.25.
model M
  function f
    input Real u;
    output Real y;
  algorithm
    y := mod(u, 0.5) + 10*div(u, 0.75) + 100*sign(u - 0.125) + 1000*ceil(u - 0.25) + noEvent(floor(10*u));
    annotation(GenerateEvents = true);
  end f;
  Real x(start = 0.0625, fixed = true), y = f(x);
equation
  der(x) = 1;
end M;
--- expect ---
time,x,y
0.0,0.0625,-99.9375
0.06250000000011363,0.12500000000011363,-98.87499999999989
0.06250000000011363,0.12500000000011363,101.12500000000011
0.1875000013969837,0.2500000013969837,102.25000000139698
0.1875000013969837,0.2500000013969837,1102.250000001397
0.4375,0.5,1105.5
0.4375,0.5,1105.0
0.6875000000000001,0.7500000000000001,1107.25
0.6875000000000001,0.7500000000000001,1117.25
0.9375000000000001,1.0,1120.5
0.9375000000000001,1.0,1120.0
1.1875000011059444,1.2500000011059444,1122.250000001106
1.1875000011059444,1.2500000011059444,2122.250000001106
1.2,1.2625,2122.2625

--- a-loop-without-a-known-end error simulate --stop 1 --intervals 1 ---
// How often it runs is only known at run time: the function stays a call, and that is told.
model M
  function f
    input Real u;
    output Real y;
  algorithm
    y := u;
    while y > 0.5 loop
      y := y - 0.5;
    end while;
    annotation(GenerateEvents = true);
  end f;
  Real x(start = 0, fixed = true), y = f(x);
equation
  der(x) = 1;
end M;
--- expect ---
exit: 0
M.f asks for events, but cannot be inlined: its relations make none
model.mo:8
events need loops whose ends are known when compiling
