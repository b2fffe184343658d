//! Native kernels: templates compiled by Cranelift, and the same templates as C99.
//!
//! A template goes through these steps:
//!
//! 1. *plan*: the expression graph becomes a list of steps with structured branches; shared subexpressions appear
//!    once wherever that needs no speculation (nothing after the plan knows about sharing);
//! 2. one of: *tape* (run the steps as they are), *emit* (the steps as Cranelift IR, then machine code), *c* (the
//!    steps as C99 text).
//!
//! Functions of the model ([`NativeFunctions`]) start on the executor and are compiled once they have run for a while:
//! *function* and *array* write their lowered form as Cranelift IR.
//!
//! [`functions_c`] writes the same lowered form as C.
//!
//! All of them agree bit for bit with [`saltus_program::Interpreter`], NaN payloads aside: the same operations in the
//! same association, elementary functions through the same library, nothing fused.
//!
//! Which backend? [`Tiered`] for simulation: kernels start on the tape and are compiled once they have run a few
//! hundred rows. [`Jit`] where everything is known to run long. [`kernel_c`] for export.
//!
//! Absent here: equations, modes, layouts. `unsafe` appears in `native` and `functions` only.

#![deny(unsafe_code)]

mod array;
mod c;
mod chain;
mod emit;
mod function;
mod function_c;
#[allow(unsafe_code)]
mod functions;
mod jit;
#[allow(unsafe_code)]
mod native;
mod plan;
mod provided_c;
mod scalar;
mod table_c;
mod tape;
mod tiered;

pub use c::{JoinedC, PRELUDE_C, PlanC, kernel_c, literal_c, quoted_c, run_c};
pub use function_c::{Called, FLOWS_C, NotInC, ObjectC, called, functions_c};
pub use functions::NativeFunctions;
pub use jit::{Jit, JitError};
pub use tiered::{CodeStore, Spent, Tiered};
