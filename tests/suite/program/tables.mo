Tables of the library are objects: made as a run starts, read by calls of single numbers, natively and in programs.

--- one-abscissa program ---
// The object is made once; both columns are read by calls that stay calls.
model M
  class Table
    extends ExternalObject;
    function constructor
      input Real[:, :] table;
      input Integer[:] columns;
      input Integer smoothness;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init2("NoName", "NoName", table, size(table, 1), size(table, 2),
        columns, size(columns, 1), smoothness, 2, 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable1D_close(t);
    end destructor;
  end Table;
  function value
    input Table t;
    input Integer column;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, column, u);
    annotation(derivative = slope);
  end value;
  function slope
    input Table t;
    input Integer column;
    input Real u, der_u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getDerValue(t, column, u, der_u);
  end slope;
  Table t = Table([0, 0, 1; 1, 2, 1; 2, 3, 5], {2, 3}, 1);
  Real x(start = 0, fixed = true), y = value(t, 1, x), z = value(t, 2, x);
equation
  der(x) = 1 + 0*z;
end M;
--- expect ---
states
  x, der(x)
continuous
  y := M.value(t, 1, x)
  z := M.value(t, 2, x)
  der(x) := 1
event
  t := M.Table.constructor(0, 0, 1, 1, 2, 1, 2, 3, 5, 2, 3, 1)
  y := M.value(t, 1, x)
  z := M.value(t, 2, x)
  der(x) := 1

--- one-abscissa-values simulate --stop 2 --intervals 4 ---
// Linear between (0, 0), (1, 2), (2, 3); the other column 1, 1, 5.
model M
  class Table
    extends ExternalObject;
    function constructor
      input Real[:, :] table;
      input Integer[:] columns;
      input Integer smoothness;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init2("NoName", "NoName", table, size(table, 1), size(table, 2),
        columns, size(columns, 1), smoothness, 2, 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable1D_close(t);
    end destructor;
  end Table;
  function value
    input Table t;
    input Integer column;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, column, u);
    annotation(derivative = slope);
  end value;
  function slope
    input Table t;
    input Integer column;
    input Real u, der_u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getDerValue(t, column, u, der_u);
  end slope;
  Table t = Table([0, 0, 1; 1, 2, 1; 2, 3, 5], {2, 3}, 1);
  Real x = time, y = value(t, 1, x), z = value(t, 2, x);
end M;
--- expect ---
time,x,y,z
0.0,0.0,0.0,1.0
0.5,0.5,1.0,1.0
1.0,1.0,2.0,1.0
1.5,1.5,2.5,3.0
2.0,2.0,3.0,5.0

--- solved-for-the-abscissa program ---
// A table in an equation that is solved: its slope comes from the derivative function.
model M
  class Table
    extends ExternalObject;
    function constructor
      input Real[:, :] table;
      input Integer[:] columns;
      input Integer smoothness;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init2("NoName", "NoName", table, size(table, 1), size(table, 2),
        columns, size(columns, 1), smoothness, 2, 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable1D_close(t);
    end destructor;
  end Table;
  function value
    input Table t;
    input Integer column;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, column, u);
    annotation(derivative = slope);
  end value;
  function slope
    input Table t;
    input Integer column;
    input Real u, der_u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getDerValue(t, column, u, der_u);
  end slope;
  Table t = Table([0, 0; 1, 2; 2, 3], {2}, 1);
  Real x(start = 0.5);
equation
  value(t, 1, x) + 0.1*x = 1 + time;
end M;
--- expect ---
continuous
  solve 1 nonlinear for x:
    #1 := M.value(t, 1, x) + 0.1*x - (1 + time)
    jacobian:
      #2 := M.slope(t, 1, x, 1) + 0.1
event
  t := M.Table.constructor(0, 0, 1, 2, 2, 3, 2, 1)
  solve 1 nonlinear for x:
    #3 := M.value(t, 1, x) + 0.1*x - (1 + time)
    jacobian:
      #4 := M.slope(t, 1, x, 1) + 0.1

--- the-derivative-of-a-table simulate --stop 2 --intervals 2 ---
// der(y) is the slope, 2 and then 1, by the annotation.
model M
  class Table
    extends ExternalObject;
    function constructor
      input Real[:, :] table;
      input Integer[:] columns;
      input Integer smoothness;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init2("NoName", "NoName", table, size(table, 1), size(table, 2),
        columns, size(columns, 1), smoothness, 2, 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable1D_close(t);
    end destructor;
  end Table;
  function value
    input Table t;
    input Integer column;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, column, u);
    annotation(derivative = slope);
  end value;
  function slope
    input Table t;
    input Integer column;
    input Real u, der_u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getDerValue(t, column, u, der_u);
  end slope;
  Table t = Table([0, 0; 1, 2; 2, 3], {2}, 1);
  Real x = 0.25 + 0.75*time, y = value(t, 1, x), v = der(y);
end M;
--- expect ---
time,x,y,v
0.0,0.25,0.5,1.5
1.0,1.0,2.0,0.75
2.0,1.75,2.75,0.75

--- two-abscissas program ---
model M
  class Table
    extends ExternalObject;
    function constructor
      input Real[:, :] table;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTable2D_init2("NoName", "NoName", table, size(table, 1), size(table, 2), 1, 2, 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable2D_close(t);
    end destructor;
  end Table;
  function value
    input Table t;
    input Real u, v;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable2D_getValue(t, u, v);
  end value;
  Table t = Table([0, 0, 1; 0, 0, 1; 1, 2, 5]);
  Real x(start = 0, fixed = true), y = value(t, x, 0.5);
equation
  der(x) = y;
end M;
--- expect ---
states
  x, der(x)
continuous
  y := M.value(t, x, 0.5)
  der(x) := y
event
  t := M.Table.constructor(0, 0, 1, 0, 0, 1, 1, 2, 5)
  y := M.value(t, x, 0.5)
  der(x) := y

--- two-abscissas-values simulate --stop 1 --intervals 2 ---
// Bilinear on the unit square between 0, 1, 2 and 5: at (u, v) 2u + v + 2uv.
model M
  class Table
    extends ExternalObject;
    function constructor
      input Real[:, :] table;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTable2D_init2("NoName", "NoName", table, size(table, 1), size(table, 2), 1, 2, 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable2D_close(t);
    end destructor;
  end Table;
  function value
    input Table t;
    input Real u, v;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable2D_getValue(t, u, v);
  end value;
  Table t = Table([0, 0, 1; 0, 0, 1; 1, 2, 5]);
  Real x = time, y = value(t, x, 0.5);
end M;
--- expect ---
time,x,y
0.0,0.0,0.5
0.5,0.5,2.0
1.0,1.0,3.5

--- a-table-of-time program ---
// The next instant at which the table bends is a discrete variable; a when-equation asks for the one after it.
model M
  class Table
    extends ExternalObject;
    function constructor
      input Real[:, :] table;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTimeTable_init2("NoName", "NoName", table, size(table, 1), size(table, 2),
        0.0, {2}, 1, 1, 2, 0.0, 1, 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTimeTable_close(t);
    end destructor;
  end Table;
  function value
    input Table t;
    input Real at, next, before;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTimeTable_getValue(t, 1, at, next, before);
  end value;
  function next
    input Table t;
    input Real at;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTimeTable_nextTimeEvent(t, at);
  end next;
  Table t = Table([0, 0; 1, 0; 1, 3; 2, 4]);
  discrete Real at(start = 0, fixed = true);
  Real y = value(t, time, at, pre(at));
equation
  when {time >= pre(at), initial()} then
    at = next(t, time);
  end when;
end M;
--- expect ---
continuous
  y := M.value(t, time, at, pre(at))
event
  t := M.Table.constructor(0, 0, 1, 0, 1, 3, 2, 4)
  time >= pre(at) := time >= pre(at)
  when 1:
    at := M.next(t, time)
  y := M.value(t, time, at, pre(at))

--- a-table-of-time-values simulate --stop 2 --intervals 2 ---
// It jumps from 0 to 3 at 1.
model M
  class Table
    extends ExternalObject;
    function constructor
      input Real[:, :] table;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTimeTable_init2("NoName", "NoName", table, size(table, 1), size(table, 2),
        0.0, {2}, 1, 1, 2, 0.0, 1, 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTimeTable_close(t);
    end destructor;
  end Table;
  function value
    input Table t;
    input Real at, next, before;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTimeTable_getValue(t, 1, at, next, before);
  end value;
  function next
    input Table t;
    input Real at;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTimeTable_nextTimeEvent(t, at);
  end next;
  Table t = Table([0, 0; 1, 0; 1, 3; 2, 4]);
  discrete Real at(start = 0, fixed = true);
  Real y = value(t, time, at, pre(at));
equation
  when {time >= pre(at), initial()} then
    at = next(t, time);
  end when;
end M;
--- expect ---
time,at,y
0.0,1.0,0.0
1.0,1.0,0.0
1.0,2.0,3.0
2.0,2.0,4.0
2.0,1.7976931348623157e308,4.0

--- a-table-that-decides-sizes simulate --stop 1 --intervals 2 ---
// A value and the last abscissa of a table are structural: 3 and 2. The run makes a table of its own.
model M
  class Table
    extends ExternalObject;
    function constructor
      input Real[:, :] table;
      input Integer[:] columns;
      input Integer smoothness;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init2("NoName", "NoName", table, size(table, 1), size(table, 2),
        columns, size(columns, 1), smoothness, 2, 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable1D_close(t);
    end destructor;
  end Table;
  function value
    input Table t;
    input Integer column;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, column, u);
  end value;
  function last
    input Table t;
    output Real u;
    external "C" u = ModelicaStandardTables_CombiTable1D_maximumAbscissa(t);
  end last;
  record Data
    parameter Real points[:, 2] = [0, 0; 1, 2; 2, 4];
    final parameter Table t = Table(points, {2}, 1);
    final parameter Real scale = value(t, 1, 1.5) annotation(Evaluate = true);
  end Data;
  parameter Data data;
  Real x[integer(data.scale)] = fill(time, integer(data.scale));
  Real y[integer(last(data.t))] = {value(data.t, 1, time), 1};
end M;
--- expect ---
time,x[1],x[2],x[3],y[1],y[2]
0.0,0.0,0.0,0.0,0.0,1.0
0.5,0.5,0.5,0.5,1.0,1.0
1.0,1.0,1.0,1.0,2.0,1.0
