model SRLatch
  Boolean s, r, q(start=false,fixed=true), nq(start=true,fixed=true);
equation
  s = time>=0.2 and time<0.3; r=time>=0.6 and time<0.7;
  q = not (r or pre(nq)); nq = not (s or pre(q));
end SRLatch;
