model MovingAlarm
  discrete Real next(start=0.1,fixed=true); Integer n(start=0,fixed=true);
equation
  when time>=pre(next) then next=2*pre(next); n=pre(n)+1; end when;
end MovingAlarm;
