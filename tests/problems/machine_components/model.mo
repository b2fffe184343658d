model MachineComponents "States made of connected components, in a machine inside a component"
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model R
    parameter Real r = 1;
    Pin a, b;
  equation
    a.v - b.v = r*a.i;
    a.i + b.i = 0;
  end R;
  model C
    parameter Real c = 1;
    Pin a, b;
    Real v(start = 1, fixed = true);
  equation
    v = a.v - b.v;
    c*der(v) = a.i;
    a.i + b.i = 0;
  end C;
  model G
    Pin a;
  equation
    a.v = 0;
  end G;
  model Discharge
    R r(r = 2);
    C c(c = 0.5);
    G g;
  equation
    connect(r.a, c.a);
    connect(r.b, c.b);
    connect(c.b, g.a);
  end Discharge;
  model Wait
    Real t(start = 0, fixed = true);
  equation
    der(t) = 1;
  end Wait;
  model Machine
    Discharge d;
    Wait w;
  equation
    initialState(w);
    transition(w, d, w.t >= 1);
    transition(d, w, d.c.v <= 0.5, reset = true);
  end Machine;
  Machine m1;
  Real y = m1.d.c.v + m1.w.t;
end MachineComponents;
