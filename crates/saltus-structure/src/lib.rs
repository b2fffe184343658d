//! Structure: from a flat hybrid model to plans of evaluation, one per mode.
//!
//! 1. [`lower`]: relations become discrete variables, if-equations get condition variables.
//! 2. [`simplify`]: aliases and constants go.
//! 3. [`analyse_modes`]: which conditions decide structure.
//! 4. [`plan_mode`]: per mode, Σ-method, dummy derivatives, matching, blocks; equations that depend on each other are
//!    combined before (`combine`), constraints that say the same are refused (`redundancy`).
//! 5. [`plan_initialization`]: the same for the start.
//!
//! Absent here: numbers of a run (a [`Point`] lends some), memory layout, code.

mod coefficients;
mod combine;
mod content;
mod incidence;
mod influence;
mod init;
mod loops;
mod lower;
mod modes;
mod parts;
mod plan;
mod redundancy;
mod rows;
mod selection;
mod simplify;
mod sums;
mod system;

pub use coefficients::{fold_vanishing_calls, fold_zero_parameters};
pub use content::{content, numbers, renew};
pub use incidence::{Conflict, Incidence};
pub use init::{InitPlan, Wish, cell_name, late_parameters, plan_initialization, spread_guesses, start_value};
pub use loops::{Loop, compose, solved};
pub use lower::lower;
pub use modes::{ModeKey, Modes, active_rows, analyse_modes, chosen, continuous_args, key_text, specialise};
pub use parts::{ModePart, Parts, mode_parts};
pub use plan::{
    Block, Cell, Generic, InstantPlan, Item, Point, Sequence, StructuralPlan, better_choice, plan_instant, plan_mode,
    replan_states, singular_conditions, singular_mode, singular_with, value_text,
};
pub use redundancy::{constraint_shape, null_support};
pub use rows::{RowOps, tidy};
pub use selection::{Choice, Entry, Reason, Selection, Watch, jacobian_entry};
pub use simplify::{SimplifyOptions, simplify};
pub use system::*;
