package Doubles "Two classes of one name, in different files"
  model Bolt
    Real x = 1;
  end Bolt;
end Doubles;
