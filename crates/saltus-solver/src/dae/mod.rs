//! Differential-algebraic equations F(t, x, x') = 0 of index 1: variable-order BDF of the DASSL, DASKR and IDA class,
//! and consistent initial values.
//!
//! ```
//! use saltus_solver::dae::*;
//! use saltus_solver::ode::{EvalError, Options, Restart, StepOutcome};
//! /// x' = -y, 0 = x - y.
//! struct Decay;
//! impl DaeSystem for Decay {
//!     fn dim(&self) -> usize { 2 }
//!     fn residual(&mut self, _t: f64, x: &[f64], xp: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
//!         r[0] = xp[0] + x[1];
//!         r[1] = x[0] - x[1];
//!         Ok(())
//!     }
//!     fn is_differential(&self, i: usize) -> bool { i == 0 }
//!     fn is_algebraic_equation(&self, i: usize) -> bool { i == 1 }
//! }
//! let opts = DaeOptions::new(Options::new(2, 1e-6, 1e-9));
//! let (mut x, mut xp) = ([1.0, 0.0], [0.0, 0.0]);
//! initialize(&mut Decay, 0.0, &mut x, &mut xp, Unknowns::DerivativesAndAlgebraic, &opts).unwrap();
//! let mut bdf = DaeBdf::new(2, opts);
//! bdf.restart(&mut Decay, 0.0, &x, &xp, Restart::Cold)?;
//! while bdf.step(&mut Decay, 1.0)? == StepOutcome::Step {}
//! assert!((bdf.x()[1] - (-1f64).exp()).abs() < 1e-5);
//! # Ok::<(), saltus_solver::ode::StepError>(())
//! ```

mod bdf;
mod init;
mod linearize;

pub use bdf::DaeBdf;
pub use init::{InitError, Unknowns, initialize};

use crate::ode::{EvalError, JacobianMatrix, Options, Pattern};

/// The system F(t, x, x') = 0.
pub trait DaeSystem {
    /// Number of unknowns and of equations.
    fn dim(&self) -> usize;
    /// r = F(t, x, xp).
    fn residual(&mut self, t: f64, x: &[f64], xp: &[f64], r: &mut [f64]) -> Result<(), EvalError>;
    /// ∂F/∂x + cj ∂F/∂x' into `jac`, which is zero on entry; `false` if there is none, then coloured finite
    /// differences are used.
    fn jacobian(
        &mut self,
        _t: f64,
        _x: &[f64],
        _xp: &[f64],
        _cj: f64,
        _jac: &mut JacobianMatrix,
    ) -> Result<bool, EvalError> {
        Ok(false)
    }
    /// Pattern of ∂F/∂x and ∂F/∂x' together; `None` means full.
    fn sparsity(&self) -> Option<&Pattern> {
        None
    }
    /// Whether x_i' occurs in F.
    fn is_differential(&self, _i: usize) -> bool {
        true
    }
    /// Whether equation i is free of derivatives; such rows are scaled by the leading coefficient cj, so that the
    /// matrix stays well scaled as h goes to zero.
    fn is_algebraic_equation(&self, _i: usize) -> bool {
        false
    }
}

/// Options of the DAE integrator.
#[derive(Debug, Clone)]
pub struct DaeOptions {
    /// Tolerances, steps, order (at most 5) and bounds.
    pub common: Options,
    /// Leave algebraic variables out of the error test.
    pub exclude_algebraic: bool,
}

impl DaeOptions {
    /// Algebraic variables included in the error test.
    pub fn new(common: Options) -> Self {
        DaeOptions { common, exclude_algebraic: false }
    }
}
