package HydraulicNetwork "Pressure source, three pipes, a chamber, two sinks, two flow meters; no guesses anywhere"
  connector Port "A stream of water"
    Real P(unit = "Pa");
    flow Real m(unit = "kg/s") "positive into the component";
    stream Real h(unit = "J/kg");
  end Port;

  partial model Water "Properties at the mean temperature"
    parameter Real cp = 4186;
    parameter Real rho0 = 998.2;
    parameter Real beta = 2.1e-4 "thermal expansion";
    parameter Real T0 = 293.15;
    Real h;
    Real T;
    Real rho;
    Real v "specific volume";
  equation
    h = cp*(T - 273.15);
    rho = rho0*(1 - beta*(T - T0));
    v*rho = 1;
  end Water;

  model Source "Water at a given pressure and temperature"
    extends Water;
    parameter Real P0 = 3e5;
    parameter Real Tw = 290;
    Port port;
    Real m "flow into the network";
    Real q "volume flow";
  equation
    port.P = P0;
    T = Tw;
    port.h = h;
    m = -port.m;
    q = m*v;
  end Source;

  model Sink "A given pressure"
    extends Water;
    parameter Real P0 = 1e5;
    Port port;
    Real m "flow out of the network";
    Real q "volume flow";
    Real power "enthalpy flow";
  equation
    port.P = P0;
    port.h = h;
    h = inStream(port.h);
    m = port.m;
    q = m*v;
    power = m*h;
  end Sink;

  model Pipe "Pressure loss by friction and height"
    extends Water;
    parameter Real K = 40 "loss coefficient";
    parameter Real A = 2e-3 "cross section";
    parameter Real dz = 0 "rise";
    parameter Real g = 9.81;
    Port a;
    Port b;
    Real m "flow from a to b";
    Real dp "pressure difference";
    Real friction;
    Real weight "pressure of the height";
    Real w "velocity";
    Real q "volume flow";
    Real Pm "mean pressure";
    Real power "dissipated";
  equation
    m = a.m;
    a.m + b.m = 0;
    a.h = inStream(b.h);
    b.h = inStream(a.h);
    h = if m > 0 then inStream(a.h) else inStream(b.h);
    dp = a.P - b.P;
    dp = friction + weight;
    friction = K*rho*w*abs(w)/2;
    weight = rho*g*dz;
    m = rho*w*A;
    q = m*v;
    Pm = (a.P + b.P)/2;
    power = friction*q;
  end Pipe;

  model Chamber "A constant volume"
    extends Water;
    parameter Real V = 0.05;
    parameter Real stiffness = 1e6 "Pa of pressure per relative change of mass";
    Port a;
    Port b1;
    Port b2;
    Real P;
    Real M "mass";
    Real Ha;
    Real Hb1;
    Real Hb2;
    Real dM;
    Real dH;
  equation
    a.P = P;
    b1.P = P;
    b2.P = P;
    a.h = h;
    b1.h = h;
    b2.h = h;
    M = rho*V;
    Ha = a.m*(if a.m > 0 then inStream(a.h) else h);
    Hb1 = b1.m*(if b1.m > 0 then inStream(b1.h) else h);
    Hb2 = b2.m*(if b2.m > 0 then inStream(b2.h) else h);
    dM = a.m + b1.m + b2.m;
    dH = Ha + Hb1 + Hb2;
    M/stiffness*der(P) = dM;
    M*der(h) = dH - h*dM;
  end Chamber;

  model Meter "Measures mass flow and temperature"
    extends Water;
    Port a;
    Port b;
    Real m;
    Real q;
    Real litres "per minute";
    Real P;
  equation
    a.P = b.P;
    a.m + b.m = 0;
    a.h = inStream(b.h);
    b.h = inStream(a.h);
    h = if m > 0 then inStream(a.h) else inStream(b.h);
    m = a.m;
    q = m*v;
    litres = 6e4*q;
    P = a.P;
  end Meter;

  model Network
    Source source(P0 = 3e5, Tw = 290);
    Pipe pipe1(K = 40);
    Chamber chamber;
    Meter meter2;
    Meter meter3;
    Pipe pipe2(K = 120, dz = 2);
    Pipe pipe3(K = 60, dz = 0.5);
    Sink sink2(P0 = 1e5);
    Sink sink3(P0 = 1.2e5);
  equation
    connect(source.port, pipe1.a);
    connect(pipe1.b, chamber.a);
    connect(chamber.b1, meter2.a);
    connect(chamber.b2, meter3.a);
    connect(meter2.b, pipe2.a);
    connect(meter3.b, pipe3.a);
    connect(pipe2.b, sink2.port);
    connect(pipe3.b, sink3.port);
    annotation(experiment(StopTime = 1));
  end Network;
end HydraulicNetwork;
