model TicksAtZero "Samplers that began before zero tick there together, though -0.6 + 6*0.1 is 1.1e-16"
  Boolean a = sample(-0.6, 0.1), b = sample(-0.14, 0.07);
  Integer both(start = 0, fixed = true);
equation
  when a and b then
    both = pre(both) + 1;
  end when;
end TicksAtZero;
