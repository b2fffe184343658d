model NotItself
  Boolean b;
equation
  b = not b;
end NotItself;
