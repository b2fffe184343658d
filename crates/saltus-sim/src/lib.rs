//! Runs: initialization, stepping, event iteration, mode changes.
//!
//! - [`layout`], [`compile`]: plans become steps over one array of values.
//! - [`machine`]: runs steps; Newton, mixed loops.
//! - [`model`]: a prepared model with the programs of the modes entered so far.
//! - [`choice`], [`dependence`]: which integrator and why; the pattern of the Jacobian.
//! - [`start`], [`events`], [`jump`], [`run`]: initialization, event iteration, mode-change restarts, the loop.
//!
//! Absent here: source text, classes, files.

mod api;
mod choice;
pub mod compile;
mod dependence;
pub mod events;
pub mod jump;
pub mod layout;
pub mod machine;
pub mod model;
pub mod run;
mod start;

pub use api::*;
pub use choice::SOLVERS;
pub use model::Model;
pub use run::run;
