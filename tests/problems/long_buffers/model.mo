// Two buffers of 300 samples, each an algorithm with as many results as arguments. They change at the same instants.
model LongBuffers
  block Buffer
    parameter Integer n = 300;
    input Real u;
    discrete Real kept[n](each start = 0, each fixed = true);
    Integer count(start = 0, fixed = true);
    discrete Real mean(start = 0, fixed = true);
    discrete Real late(start = 0, fixed = true);
  algorithm
    when sample(0, 0.01) then
      count := pre(count) + 1;
      kept[1 + mod(count - 1, n)] := u;
      mean := sum(kept)/n;
    end when;
    when count >= 450 then
      late := max(kept) - kept[n];
    end when;
  end Buffer;
  Buffer a, b;
  Real x(start = 1, fixed = true);
  Real follows(start = 0, fixed = true);
equation
  der(x) = -x;
  a.u = x;
  b.u = cos(3*time);
  der(follows) = a.mean - b.mean;
end LongBuffers;
