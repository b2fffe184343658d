The classes that a model is made of, as they are declared: before modifiers, inheritance and values.

--- what-is-reached classes ---
package P
  constant Real g = 9.81;
  partial model Base "has a length"
    parameter Real l = 1;
  end Base;
  model Unused
    Real z;
  end Unused;
  model M
    import Half = P.half;
    extends Base(l = 2);
    Real x(start = 1), y;
  equation
    der(x) = -g*y;
    y = Half(x)*l;
  end M;
  function half
    input Real u;
    output Real v = u/2;
  algorithm
  end half;
end P;

--- expect ---
package P // P at model.mo:1:9
  constant Real g = 9.81
  model Base
  model Unused
  model M
  function half
partial model Base "has a length" // P.Base at model.mo:3:17
  parameter Real l = 1
model M // P.M at model.mo:9:9
  import Half = P.half
  extends Base
  Real x(start = 1), y
function half // P.half at model.mo:17:12
  input Real u
  output Real v = u / 2
