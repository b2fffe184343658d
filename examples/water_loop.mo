package WaterLoop "A closed loop of water with constant properties: pump, three parallel branches, exchanger"
  connector Port "Water: its pressure, flow, and the temperatures on both sides"
    Real P(unit = "Pa");
    flow Real m(unit = "kg/s") "positive into the component";
    stream Real T(unit = "K");
  end Port;

  model Pump "Raises the pressure by a falling characteristic; does not let water back"
    parameter Real head = 2e5 "pressure at no flow";
    parameter Real slope = 2e3 "loss of pressure per flow squared";
    Port a;
    Port b;
    Real m;
    Real lift;
  equation
    m = a.m;
    a.m + b.m = 0;
    b.T = inStream(a.T);
    a.T = inStream(b.T);
    lift = b.P - a.P;
    lift = if m > 0 then head - slope*m*m else head - 1e7*m;
  end Pump;

  model Valve "Chokes above a critical pressure difference"
    parameter Real Kv = 6e-3;
    parameter Real opening = 1;
    parameter Real critical = 4e4 "pressure difference beyond which the flow does not grow";
    parameter Real small = 100 "pressure difference below which the flow is laminar";
    Port a;
    Port b;
    Real m;
    Real dp;
    Real effective "pressure difference that drives the flow";
  equation
    m = a.m;
    a.m + b.m = 0;
    b.T = inStream(a.T);
    a.T = inStream(b.T);
    dp = a.P - b.P;
    effective = if dp > critical then critical elseif dp < -critical then -critical else dp;
    m = opening*Kv*(if effective > small then sqrt(effective)
      elseif effective < -small then -sqrt(-effective)
      else effective/sqrt(small));
  end Valve;

  model Pipe "Cells in a row; the flow through each face decides what enters a cell and how much pressure is lost"
    parameter Integer n = 6;
    parameter Real k = 400 "pressure loss per face and flow squared";
    parameter Real turbulent = 0.05 "flow above which the loss is quadratic";
    parameter Real M = 2 "mass of water in a cell";
    parameter Real C = 1e-6 "mass that a cell takes up per pressure";
    parameter Real cp = 4186;
    parameter Real heat = 0 "heat to all cells";
    parameter Real UA = 0 "to the surroundings, all cells";
    parameter Real Tout = 300;
    Port a;
    Port b;
    Real P[n];
    Real T[n];
    Real m[n + 1] "flow through the faces";
    Real loss[n + 1];
    Real E[n + 1] "enthalpy flow through the faces";
  equation
    m[1] = a.m;
    m[n + 1] = -b.m;
    loss[1] = a.P - P[1];
    for i in 2:n loop
      loss[i] = P[i - 1] - P[i];
    end for;
    loss[n + 1] = P[n] - b.P;
    for i in 1:n + 1 loop
      loss[i] = if m[i] > turbulent then k*m[i]^2 elseif m[i] < -turbulent then -k*m[i]^2 else k*turbulent*m[i];
    end for;
    E[1] = cp*m[1]*(if m[1] > 0 then inStream(a.T) else T[1]);
    for i in 2:n loop
      E[i] = cp*m[i]*(if m[i] > 0 then T[i - 1] else T[i]);
    end for;
    E[n + 1] = cp*m[n + 1]*(if m[n + 1] > 0 then T[n] else inStream(b.T));
    for i in 1:n loop
      C*der(P[i]) = m[i] - m[i + 1];
      M*cp*der(T[i]) = E[i] - E[i + 1] - cp*T[i]*(m[i] - m[i + 1]) + heat/n - UA/n*(T[i] - Tout);
    end for;
    a.T = T[1];
    b.T = T[n];
  end Pipe;

  model Vessel "Keeps the pressure; mixes what comes in"
    parameter Real P0 = 2e5;
    parameter Real M = 20;
    Port a;
    Port b;
    Real T;
  equation
    a.P = P0;
    b.P = P0;
    a.T = T;
    b.T = T;
    M*der(T) = a.m*((if a.m > 0 then inStream(a.T) else T) - T) + b.m*((if b.m > 0 then inStream(b.T) else T) - T);
  end Vessel;

  model Junction "Four pipes meet in a small volume"
    parameter Real M = 1;
    Port a;
    Port b1;
    Port b2;
    Port b3;
    Real T;
  equation
    a.P = b1.P;
    a.P = b2.P;
    a.P = b3.P;
    a.m + b1.m + b2.m + b3.m = 0;
    a.T = T;
    b1.T = T;
    b2.T = T;
    b3.T = T;
    M*der(T) = a.m*((if a.m > 0 then inStream(a.T) else T) - T)
      + b1.m*((if b1.m > 0 then inStream(b1.T) else T) - T)
      + b2.m*((if b2.m > 0 then inStream(b2.T) else T) - T)
      + b3.m*((if b3.m > 0 then inStream(b3.T) else T) - T);
  end Junction;

  model Loop "Started in equilibrium by 'saltus init --steady'"
    Vessel vessel;
    Pump pump;
    Junction split;
    Junction join;
    Valve valve1(opening = 1);
    Valve valve2(opening = 0.5);
    Valve valve3(opening = 0.1);
    Pipe branch1(heat = 2e4, k = 2e4);
    Pipe branch2(heat = 1e4, k = 5e3);
    Pipe branch3(heat = 1e3, k = 200);
    Pipe exchanger(n = 8, UA = 3000, Tout = 290, k = 100);
  equation
    connect(vessel.b, pump.a);
    connect(pump.b, split.a);
    connect(split.b1, valve1.a);
    connect(split.b2, valve2.a);
    connect(split.b3, valve3.a);
    connect(valve1.b, branch1.a);
    connect(valve2.b, branch2.a);
    connect(valve3.b, branch3.a);
    connect(branch1.b, join.b1);
    connect(branch2.b, join.b2);
    connect(branch3.b, join.b3);
    connect(join.a, exchanger.a);
    connect(exchanger.b, vessel.a);
    annotation(experiment(StopTime = 100));
  end Loop;
end WaterLoop;
