package Loops "Functions with loops over n elements, for measuring; loops.c says the same"
  function assign "Elements assigned one by one, then added"
    input Integer n;
    input Real a;
    output Real y;
  protected
    Real x[n];
  algorithm
    for i in 1:n loop
      x[i] := a*i + 1/(a + i);
    end for;
    y := 0;
    for i in 1:n loop
      y := y + x[i]*x[i];
    end for;
  end assign;

  function recurrence "Neighbours, a branch and a while loop"
    input Integer n;
    input Real a;
    output Real y;
  protected
    Real x[n];
    Integer k;
  algorithm
    x[1] := a;
    for i in 2:n loop
      if x[i - 1] > 1 then
        x[i] := x[i - 1] - 0.75;
      else
        x[i] := x[i - 1] + a;
      end if;
    end for;
    y := 0;
    k := n;
    while k > 1 loop
      y := y + x[k]*x[k - 1];
      k := k - 1;
    end while;
  end recurrence;

  function vectors "Whole arrays at a time"
    input Integer n;
    input Real a;
    output Real y;
  protected
    Real x[n];
    Real z[n];
  algorithm
    x := {a*i for i in 1:n};
    z := 2*x + x.*x;
    y := sum(z) + z*x;
  end vectors;

  model All
    Real y = assign(50000, 1 + time) + recurrence(50000, 1 + time) + vectors(50000, 1 + time);
  end All;
end Loops;
