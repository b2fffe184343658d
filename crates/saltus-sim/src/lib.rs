//! Runs: initialization, stepping, event iteration, mode changes.
//!
//! - [`layout`], [`compile`]: plans become steps over one array of values.
//! - [`machine`]: runs steps; Newton, mixed loops.
//! - [`model`]: a prepared model with the programs of the modes entered so far.
//! - [`start`], [`events`], [`jump`], [`run`]: initialization, event iteration, mode-change restarts, the loop.
//!
//! Absent here: source text, classes, files.

mod api;
pub mod compile;
pub mod events;
pub mod jump;
pub mod layout;
pub mod machine;
pub mod model;
pub mod run;
mod start;

pub use api::*;
pub use model::Model;
pub use run::run;
