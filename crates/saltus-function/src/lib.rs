//! Functions and algorithm sections as data ([`ir`]), independent of names and classes: arrays of scalars with known
//! rank, structured control flow. Records have been split into their fields by whoever lowers to this form.
//!
//! - [`ir`]: the data types.
//! - [`lower`]: ranks resolved, locals in slots: what runs.
//! - [`exec`]: one executor over any scalar [`domain`]: numbers, numbers with first and second derivatives, expressions.
//! - [`interrupt`]: whether it is all to end.
//! - [`external`]: the external functions of the Modelica Standard Library, natively.
//! - [`strings`]: the process-wide string table.
//! - [`tangent`]: derivatives of functions as functions.
//!
//! Absent here: equations, variables of the model, name lookup.

pub mod domain;
pub mod error;
pub mod exec;
pub mod external;
pub mod format;
pub mod interrupt;
pub mod ir;
pub mod lower;
pub mod strings;
pub mod tangent;

pub use domain::{Domain, Dual, DualNumber, Float, HyperDual, Second, Symbolic};
pub use error::{ErrorKind, ExecError, NotInlinable, Warning};
pub use exec::{Array, Executor, call_dual, call_f64, call_symbolic, call_symbolic_keeping};
pub use ir::*;
pub use tangent::tangent;
