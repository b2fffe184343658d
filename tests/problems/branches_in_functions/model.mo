model BranchesInFunctions "Relations over functions that jump: where they jump is the event, not where a branch has its root"
  function jump
    input Real u;
    output Real y;
  algorithm
    y := if u > 1.2 then u - 1 else u - 1.4;
  end jump;
  function step
    input Real u;
    output Real y;
  algorithm
    y := if u > 1.3 then 1 else -1;
  end step;
  function count
    input Real u;
    output Real y;
  algorithm
    y := floor(u);
  end count;
  Real x(start = 0, fixed = true);
  Boolean b = jump(x) > 0;
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
  Real s = if noEvent(if x > 1.4 then 1 else -1) > 0 then 1 else 0;
equation
  der(x) = 1;
  when step(x) > 0 then n = pre(n) + 1; end when;
  when count(x) > 1.5 then m = pre(m) + 1; end when;
end BranchesInFunctions;
