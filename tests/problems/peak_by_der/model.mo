model PeakByDer
  Real x(start=0,fixed=true), v(start=1,fixed=true); discrete Real peak(start=0,fixed=true);
equation
  der(x)=v; der(v)=-x;
  when der(x)<0 then peak=x; end when;
end PeakByDer;
