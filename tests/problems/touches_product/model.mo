model TouchesProduct
  Real x(start=0,fixed=true), y(start=1,fixed=true);
  Integer n(start=0,fixed=true);
equation
  der(x)=y; der(y)=-x;
  when x*x >= 1 then n = pre(n)+1; end when;
end TouchesProduct;
