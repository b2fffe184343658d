model RoundedTime "Functions of time that move by more than their rounding between neighbouring times cross once"
  Integer carrier(start = 0, fixed = true), steep(start = 0, fixed = true), narrow(start = 0, fixed = true);
equation
  when sin(2*3.141592653589793*10000*time) > 0.5 then
    carrier = pre(carrier) + 1;
  end when;
  when exp(-((time - 1.2345678)/1e-5)^2) > 0.5 then
    steep = pre(steep) + 1;
  end when;
  when ((time - 1.0345678)/1e-6)^2 < 0.5 then
    narrow = pre(narrow) + 1;
  end when;
end RoundedTime;
