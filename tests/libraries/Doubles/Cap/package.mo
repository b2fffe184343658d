within Doubles;
package Cap
  model Round
    Real x = 4;
  end Round;
end Cap;
