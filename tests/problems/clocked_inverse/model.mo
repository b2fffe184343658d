model ClockedInverse
  "A reactor inverted on a clock, index 3: the cooling that makes the concentration follow a filtered reference"
  constant Real pi = 2*asin(1.0);
  block Inverse
    parameter String method;
    parameter Real w = 2*pi/300/sqrt(2^(1/3) - 1) "Corner of the filter of third order";
    input Real ref;
    Real r = sample(ref, Clock(Clock(1), solverMethod = method));
    Real x1(start = 0.49, fixed = true), x2(start = 0.49), x3(start = 0.49) "Filtered reference";
    Real c(start = 0.49184, fixed = true) "Concentration";
    Real T(start = 311.585, fixed = true, stateSelect = StateSelect.always) "Temperature";
    Real gamma "Speed of the reaction";
    Real Tc "Cooling temperature";
    Real held = hold(Tc), warm = hold(T), middle = hold(x2);
  equation
    der(x1) = (r - x1)*w;
    der(x2) = (x1 - x2)*w;
    der(x3) = (x2 - x3)*w;
    c = x3;
    gamma = c*1.05e14/0.848*exp(-34.2894*308.5/T);
    60*der(c) = 0.2674*(0.848 - c) - 0.848*gamma;
    60*der(T) = -1.815*T + 0.4682*308.5*gamma + 308.5*(1.815 - 1.5476) + 1.5476*Tc;
  end Inverse;
  Real reference = 0.23744 + 0.05*sin(0.05*time);
  Inverse euler(method = "ExplicitEuler", ref = reference);
  Inverse midpoint(method = "ExplicitMidPoint2", ref = reference);
  Inverse fourth(method = "ExplicitRungeKutta4", ref = reference);
  Inverse implicit(method = "ImplicitEuler", ref = reference);
  Inverse trapezoid(method = "ImplicitTrapezoid", ref = reference);
end ClockedInverse;
