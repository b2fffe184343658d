model Peaks "narrow peaks of a state that moves evenly: it is known exactly, however coarse the tolerance"
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  when sin(1000*x) > 0.999999 then
    n = pre(n) + 1;
  end when;
end Peaks;
