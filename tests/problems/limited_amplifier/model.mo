model LimitedAmplifier "An inverting amplifier limited at 10 V: kinks inside steps are no end of the solution"
  parameter Real V0 = 1e4;
  Real v, vin, out, q(start = 0, fixed = true);
equation
  v = 3*sin(2*3.141592653589793*time);
  out = smooth(0, noEvent(if V0*vin > 10 then 10 else if V0*vin < -10 then -10 else V0*vin));
  (v + vin)/1 + (vin + out)/5 = 0;
  der(q) = abs(out);
end LimitedAmplifier;
