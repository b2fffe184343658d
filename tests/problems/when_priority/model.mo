model WhenPriority "when and elsewhen at one instant: the first wins"
  Integer a(start = 0, fixed = true), b(start = 0, fixed = true);
equation
  when sample(0.5, 1) then
    a = pre(a) + 10;
  elsewhen sample(0.5, 0.5) then
    a = pre(a) + 1;
  end when;
  when sample(0.25, 0.25) then
    b = pre(a) + pre(b);
  end when;
end WhenPriority;
