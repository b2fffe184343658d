package RlcCircuit "A driven resonant circuit, put together from components"
  connector Pin "Electrical terminal"
    Real v(unit = "V") "potential";
    flow Real i(unit = "A") "current into the component";
  end Pin;

  partial model TwoPin "Component with two terminals; what flows in flows out"
    Pin p "positive terminal";
    Pin n "negative terminal";
    Real v(unit = "V") "voltage from p to n";
    Real i(unit = "A") "current from p to n";
  equation
    v = p.v - n.v;
    i = p.i;
    p.i + n.i = 0;
  end TwoPin;

  model Resistor
    extends TwoPin;
    parameter Real R(unit = "Ohm") "resistance";
  equation
    v = R*i;
  end Resistor;

  model Capacitor
    extends TwoPin;
    parameter Real C(unit = "F") "capacitance";
  equation
    C*der(v) = i;
  end Capacitor;

  model Inductor
    extends TwoPin;
    parameter Real L(unit = "H") "inductance";
  equation
    L*der(i) = v;
  end Inductor;

  model SineVoltage "Ideal source"
    extends TwoPin;
    parameter Real amplitude(unit = "V") = 1;
    parameter Real f(unit = "Hz") "frequency";
  protected
    constant Real pi = 3.14159265358979323846;
  equation
    v = amplitude*sin(2*pi*f*time);
  end SineVoltage;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Circuit "Series resonance, driven at its resonant frequency"
    SineVoltage source(amplitude = 1, f = 159.155);
    Resistor resistor(R = 10);
    Inductor inductor(L = 0.1, i(start = 0, fixed = true));
    Capacitor capacitor(C = 1e-5, v(start = 0, fixed = true));
    Ground ground;
  equation
    connect(source.p, resistor.p);
    connect(resistor.n, inductor.p);
    connect(inductor.n, capacitor.p);
    connect(capacitor.n, source.n);
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 0.1, Interval = 0.0001, Tolerance = 1e-6));
  end Circuit;
end RlcCircuit;
