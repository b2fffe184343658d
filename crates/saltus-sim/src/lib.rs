//! Runs: initialization, stepping, event iteration, mode changes.
//!
//! - [`layout`], [`compile`]: plans become steps over one array of values.
//! - [`machine`]: runs steps; Newton, mixed loops.
//! - [`model`]: a prepared model with the programs of the modes entered so far.
//! - [`choice`], [`dependence`]: which integrator and why; the pattern of the Jacobian.
//! - [`crossings`], `location`: crossing functions of a mode, and where they cross in a step.
//! - `rhs`, `sliding`, `resting`: the field the integrator sees; sliding along surfaces, rest after accumulation.
//! - [`start`], [`events`], [`jump`], [`run`]: initialization, event iteration, mode-change restarts, the loop.
//!
//! Absent here: source text, classes, files.

mod api;
mod choice;
pub mod compile;
pub mod crossings;
mod dependence;
pub mod events;
mod journal;
pub mod jump;
pub mod layout;
mod location;
pub mod machine;
pub mod model;
mod resting;
mod rhs;
pub mod run;
mod sliding;
mod start;

pub use api::*;
pub use choice::SOLVERS;
pub use journal::{Step, journal};
pub use model::Model;
pub use run::run;
pub use start::{StartMethod, StartOptions, StartReport};
