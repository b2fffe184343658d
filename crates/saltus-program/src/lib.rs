//! Programs: everything a run evaluates, as batches of kernels over one array of values.
//!
//! All numbers of a run live in one `[f64]`: time, parameters, states, derivatives, algebraic and discrete variables,
//! previous values, residuals, Jacobian entries. A kernel is a template compiled once; a [`Batch`] applies it to many
//! rows, each row a list of index words `[destination, hole 0, hole 1, …]`.
//!
//! The same kernels run over intervals: [`Backend::enclose`].
//!
//! Absent here: equations, modes.

mod enclose;
mod interpret;
mod kernel;
mod seconds;

pub use enclose::{Interval, Region, enclose_binary, enclose_function, enclose_select, enclose_unary};
pub use interpret::Interpreter;
pub use kernel::{
    Advance, Backend, Batch, CallHost, Chain, ChainState, FEW_ROWS, Functions, KernelId, NEGATE, Rows, Run, Window,
    slot_of,
};
pub use seconds::{Passage, Seconds};
