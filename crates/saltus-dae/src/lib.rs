//! `HybridDae`: the meeting point of every front end. Data, verifier, text form.
//!
//! Every equation is a [`Row`]: a template (an expression with holes) and the operands that fill the holes.
//! Absent here: ordering, layout, Jacobians, classes, arrays, strings as identities.

mod build;
mod model;
mod print;
mod verify;

pub use build::RowBuilder;
pub use model::*;
pub use print::{condition_text, equation_text, guard_text, print, row_text};
pub use verify::verify;
