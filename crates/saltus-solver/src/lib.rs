//! Integrators, linear and nonlinear solvers, root isolation: the numerical half of Saltus.
//!
//! The crate knows slices and traits, never Modelica. If all you have is a right-hand side or a residual in Rust:
//!
//! | you have | look at |
//! |---|---|
//! | x' = f(t, x) | [`ode`]: implement [`ode::OdeSystem`], pick a method by name with [`ode::make_integrator`] |
//! | F(t, x, x') = 0 of index 1 | [`dae`]: implement [`dae::DaeSystem`], [`dae::initialize`], then [`dae::DaeBdf`] |
//! | the same with events | [`hybrid`]: implement [`hybrid::HybridSystem`]; in C: `crates/saltus-solver-c` |
//! | A x = b | [`linear`]: [`linear::LinearSolver`] for dense or sparse LU, [`linear::Gmres`] |
//! | g(x) = 0 | [`nonlinear`] |
//! | complementarity | [`lcp`] |
//! | times at which something crosses zero | [`roots`] |
//!
//! A ball dropped from one metre, its bounces found on the dense output:
//!
//! ```
//! use saltus_solver::ode::*;
//! struct Ball;
//! impl OdeSystem for Ball {
//!     fn dim(&self) -> usize { 2 }
//!     fn rhs(&mut self, _t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
//!         (dx[0], dx[1]) = (x[1], -9.81);
//!         Ok(())
//!     }
//! }
//! let mut m = make_integrator("dopri5", 2, Options::new(2, 1e-8, 1e-10)).unwrap();
//! m.set_max_step(0.05);
//! m.restart(&mut Ball, 0.0, &[1.0, 0.0], Restart::Cold)?;
//! let mut bounces = Vec::new();
//! while m.step(&mut Ball, 2.0)? == StepOutcome::Step {
//!     if m.x()[0] < 0.0 {
//!         // Bisection; `roots` does better.
//!         let (mut a, mut b, mut x) = (m.t_prev(), m.t(), [0.0; 2]);
//!         while b - a > 1e-12 {
//!             let c = 0.5 * (a + b);
//!             m.interpolate(c, &mut x);
//!             if x[0] > 0.0 { a = c } else { b = c }
//!         }
//!         bounces.push(b);
//!         m.restart(&mut Ball, b, &[0.0, -0.8 * x[1]], Restart::Warm)?;
//!     }
//! }
//! let fall = (2.0f64 / 9.81).sqrt();
//! assert!((bounces[0] - fall).abs() < 1e-8 && (bounces[1] - 2.6 * fall).abs() < 1e-8);
//! # Ok::<(), StepError>(())
//! ```

pub mod dae;
pub mod hybrid;
pub mod interp;
pub mod interval;
pub mod lcp;
pub mod linear;
pub mod nonlinear;
pub mod ode;
pub mod roots;
