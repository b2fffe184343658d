model SpikeInTable "Tables of a state, of lines, a cubic and two abscissas, that rise above their threshold within a hundredth of its way"
  class Table
    extends ExternalObject;
    function constructor
      input Real table[:, :];
      input Integer smoothness;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init3("NoName", "NoName", table, size(table, 1),
        size(table, 2), {2}, 1, smoothness, 2, false, ",", 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable1D_close(t);
    end destructor;
  end Table;
  class Plane
    extends ExternalObject;
    function constructor
      input Real table[:, :];
      output Plane t;
      external "C" t = ModelicaStandardTables_CombiTable2D_init3("NoName", "NoName", table, size(table, 1),
        size(table, 2), 1, 2, false, ",", 0);
    end constructor;
    function destructor
      input Plane t;
      external "C" ModelicaStandardTables_CombiTable2D_close(t);
    end destructor;
  end Plane;
  function value
    input Table t;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, 1, u);
  end value;
  function height
    input Plane t;
    input Real u, v;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable2D_getValue(t, u, v);
  end height;
  parameter Real spike[:, :] = [-1, 0; 0.5, 0; 0.51, 1; 0.52, 0; 1, 0];
  Table lines = Table(spike, 1), cubic = Table(spike, 2);
  Plane plane = Plane([0, -2, 2; -1, 0, 0; 0.5, 0, 0; 0.51, 1, 1; 0.52, 0, 0; 1, 0, 0]);
  Real x(start = 0, fixed = true), v(start = 1, fixed = true);
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true), k(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -x;
  when value(lines, x) > 0.5 then
    n = pre(n) + 1;
  end when;
  when value(cubic, x) > 0.5 then
    m = pre(m) + 1;
  end when;
  when height(plane, x, v) > 0.5 then
    k = pre(k) + 1;
  end when;
end SpikeInTable;
