model DelayInteger "the integer part of a delayed signal that jumps from one integer to another, by more than one at the start"
  Integer x(start = 1, fixed = true);
  Real held = pre(x);
  Real delayed = delay(held, 0.1);
  Integer n = integer(delayed);
  Real width = 0.5 "constant, though not declared a parameter: the switch below is a time event";
equation
  x = if time < width then 3 else 5;
end DelayInteger;
