//! Scalar expressions, hash-consed in a [`Pool`], with numbered holes instead of variables.
//!
//! An expression over holes is a *template*: symbolic work (simplify, differentiate, solve for a hole) is done once
//! per template, whatever the number of equations that share it. Every value is an `f64`: Booleans are 0 and 1,
//! Integers and enumeration values are exact, Strings are handles into a string table.
//!
//! Absent here: variables, equations, units, arrays.

mod derive;
mod eval;
mod node;
mod pool;
mod print;
mod solve;

pub use derive::Differentiator;
pub use eval::{Calls, NoCalls, binary, eval, unary};
pub use node::{Binary, ExprId, FuncId, Node, RelOp, Unary};
pub use pool::{ArgumentRule, DerivativeRule, InverseRule, Pool};
pub use print::{Names, display, display_as};
pub use solve::{Affine, Coefficient, affine_in, classify, inverted, slope_in, solve_for};
