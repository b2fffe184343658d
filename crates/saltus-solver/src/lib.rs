//! Integrators, linear and nonlinear solvers, root isolation: the numerical half of Saltus.

pub mod dae;
pub mod interp;
pub mod lcp;
pub mod linear;
pub mod nonlinear;
pub mod ode;
pub mod roots;
