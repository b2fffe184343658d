model MachineRestartsPendulum "A transition of a state to itself takes a pendulum back to where it began, every second"
  model Swing
    Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), T;
    Integer n(start = 0, fixed = true) "passages below -0.9";
  equation
    der(x) = vx;
    der(y) = vy;
    der(vx) = T*x;
    der(vy) = T*y - 9.81;
    x^2 + y^2 = 1;
    when y < -0.9 then
      n = pre(n) + 1;
    end when;
  end Swing;
  Swing s;
equation
  initialState(s);
  transition(s, s, timeInState() >= 1, reset = true);
end MachineRestartsPendulum;
