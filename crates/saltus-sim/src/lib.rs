//! Runs: initialization, stepping, event iteration, mode changes.
//!
//! - [`layout`], [`compile`]: plans become steps over one array of values.
//! - [`machine`], [`block`], `pivot`: run steps; mixed loops, Newton, complementarity.
//! - [`model`], `programs`: a prepared model, and the programs of the modes entered so far.
//! - [`choice`]: which integrator and why.
//! - `slice`, [`dependence`], `tangent`, `formula`, `progression`: what derivatives need; pattern and values of their Jacobian,
//!   its rows as kernels, its lists of indices as arithmetic progressions.
//! - `implicit`: the same as F(t, z, ż) = 0, blocks unsolved.
//! - [`crossings`], `location`, `exclusion`, [`enclosure`], `appended`, `touching`: crossing functions of a mode, where they cross in a step,
//!   where they cannot, what values they take in a box, and what a few values tell.
//! - [`conditions`]: relations whose crossing changes no condition.
//! - `reinit`: new values of variables that are not states.
//! - `rhs`, `sliding`, `junction`, `winding`, `resting`, `switching`: the field the integrator sees; sliding along surfaces, where several
//!   meet, where the solution winds into one; rest after impacts that accumulate, and what follows switches that do.
//! - `spent`: what the states have become wrong by, as far as the integrator tells.
//! - `touched`, `islands`: what an event has to evaluate again, and what it cannot reach.
//! - [`instants`], `pace`: which instants are one, and waiting for the clock.
//! - `difference`: systems of next values, instant by instant.
//! - `transport`: delays and distributions.
//! - `forward`: sensitivities to parameters, along the run and through its events.
//! - [`restart`], [`assembly`]: all modes with the equations of their entry as kernels, or the parts that they are put together from, for
//!   export.
//! - `deduce`: which conditions at the start follow from fixed values.
//! - [`start`], [`events`], [`jump`], `ahead`, [`run`]: initialization, event iteration, mode-change restarts, which mode of very many follows,
//!   the loop.
//!
//! Absent here: source text, classes, files.

mod ahead;
mod api;
mod appended;
pub mod assembly;
pub mod block;
mod choice;
pub mod compile;
pub mod conditions;
pub mod course;
pub mod crossings;
mod deduce;
mod dependence;
mod difference;
mod edges;
pub mod elimination;
pub mod enclosure;
pub mod events;
mod exclusion;
mod fold;
mod formula;
mod forward;
mod implicit;
pub mod instants;
mod islands;
mod journal;
pub mod jump;
mod junction;
pub mod layout;
mod location;
mod losses;
pub mod machine;
mod mixed;
pub mod model;
mod pace;
mod pivot;
mod programs;
mod progression;
mod reinit;
pub mod restart;
mod resting;
mod resume;

mod rhs;
pub mod run;
mod slice;
mod sliding;
pub mod spans;
mod spent;
mod start;
mod switching;
mod tangent;
mod touched;
mod touching;
mod transport;
mod winding;

pub use api::*;
pub use choice::SOLVERS;
pub use difference::run_instants;
pub use journal::{Journal, Step};
pub use model::Model;
pub use resume::texts;
pub use run::run;
pub use saltus_solver::linear::Linear;
pub use start::{ModeMethod, StartMethod, StartOptions, StartReport};
