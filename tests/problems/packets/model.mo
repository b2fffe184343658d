model Packets
  Real q(start=0,fixed=true); Integer sent(start=0,fixed=true); discrete Real last(start=0,fixed=true);
equation
  der(q)=3;
  when q>=1 then reinit(q,q-1); sent=pre(sent)+1; last=time; end when;
end Packets;
