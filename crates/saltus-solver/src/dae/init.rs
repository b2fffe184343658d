//! Consistent initial values: damped Newton with a fresh Jacobian at every iteration.

use super::linearize::{Linearized, eval_residual};
use super::{DaeOptions, DaeSystem};
use crate::linear::Linear;
use crate::ode::control::{Failure, inverse_weights, worst, wrms};
use crate::ode::{Options, Stats};

/// Which values are to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknowns {
    /// Given x of differential variables, find their x' and the algebraic x.
    DerivativesAndAlgebraic,
    /// Given x', find all x.
    States,
}

/// Why no consistent values were found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InitError {
    /// F cannot be evaluated at the given values.
    Eval {
        /// First residual that is not finite, if that was it.
        component: Option<usize>,
    },
    /// The Jacobian with respect to the unknowns is singular in this column.
    Singular {
        /// Index of the unknown.
        component: usize,
    },
    /// Newton did not converge.
    NoConvergence {
        /// Iterations done.
        iterations: usize,
        /// Unknown with the largest weighted correction.
        component: usize,
    },
}

impl std::fmt::Display for InitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InitError::Eval { component: Some(i) } => write!(f, "residual {i} is not finite at the initial values"),
            InitError::Eval { component: None } => write!(f, "residual cannot be evaluated at the initial values"),
            InitError::Singular { component } => write!(f, "initial equations are singular in unknown {component}"),
            InitError::NoConvergence { iterations, component } => {
                write!(f, "no consistent initial values after {iterations} iterations, worst in unknown {component}")
            }
        }
    }
}

impl std::error::Error for InitError {}

const ITERATIONS: usize = 50;
const TOLERANCE: f64 = 0.01;

/// Solves F(t, x, xp) = 0 for the unknowns from the guesses in x and xp; returns the counters.
pub fn initialize(
    sys: &mut dyn DaeSystem,
    t: f64,
    x: &mut [f64],
    xp: &mut [f64],
    unknowns: Unknowns,
    opts: &DaeOptions,
) -> Result<Stats, InitError> {
    let n = sys.dim();
    let mut stats = Stats::default();
    if n == 0 {
        return Ok(stats);
    }
    let v = || vec![0.0; n];
    let (mut r, mut step, mut w, mut x_try, mut xp_try, mut r_try) = (v(), v(), v(), v(), v(), v());
    let mut lin = Linearized::new(n);
    let mut by_derivative = Linearized::new(n);
    let direct = Options { linear: Linear::Direct, ..opts.common.clone() };
    lin.set_up(sys, &direct);
    by_derivative.set_up(sys, &direct);
    let derivative: Vec<bool> =
        (0..n).map(|i| unknowns == Unknowns::DerivativesAndAlgebraic && sys.is_differential(i)).collect();
    let failed = |e: Failure| match e {
        Failure::NonFinite { component, .. } => InitError::Eval { component: Some(component) },
        _ => InitError::Eval { component: None },
    };
    eval_residual(sys, &mut stats, t, x, xp, &mut r).map_err(failed)?;
    let mut component = 0;
    for iteration in 0..ITERATIONS {
        stats.newton_iters += 1;
        inverse_weights(&opts.common, x, &mut w);
        // ∂F/∂x in columns whose x is sought, ∂F/∂x' in the others.
        lin.eval(sys, &mut stats, t, x, xp, &r, (1.0, 0.0), 0.0, &w).map_err(failed)?;
        if derivative.contains(&true) {
            by_derivative.eval(sys, &mut stats, t, x, xp, &r, (0.0, 1.0), 0.0, &w).map_err(failed)?;
            for j in (0..n).filter(|&j| derivative[j]) {
                let other = &by_derivative.matrix;
                lin.matrix.for_column_mut(j, |i, v| *v = other.get(i, j));
            }
        }
        lin.factor(sys, 1.0, &w, &mut stats).map_err(|e| match e {
            Failure::Newton { component } => InitError::Singular { component },
            e => failed(e),
        })?;
        step.copy_from_slice(&r);
        lin.solve(&mut step);
        // The weight of a derivative is not known; that of its variable over one time unit stands in, or its own size.
        for i in (0..n).filter(|&i| derivative[i]) {
            w[i] = w[i].min(1.0 / (opts.common.rtol * xp[i].abs()).max(f64::MIN_POSITIVE));
        }
        let norm = wrms(&step, &w);
        component = worst(&step, &w);
        if !norm.is_finite() {
            return Err(InitError::NoConvergence { iterations: iteration, component });
        }
        // Damping by the natural monotonicity test: the next simplified correction must shrink.
        let mut lambda = 1.0;
        loop {
            for i in 0..n {
                (x_try[i], xp_try[i]) = (x[i], xp[i]);
                if derivative[i] { xp_try[i] -= lambda * step[i] } else { x_try[i] -= lambda * step[i] }
            }
            for (i, &(lo, hi)) in opts.common.bounds.iter().enumerate() {
                x_try[i] = x_try[i].clamp(lo, hi);
            }
            let better = match eval_residual(sys, &mut stats, t, &x_try, &xp_try, &mut r) {
                Ok(()) => {
                    r_try.copy_from_slice(&r);
                    lin.solve(&mut r_try);
                    wrms(&r_try, &w) <= (1.0 - 0.5 * lambda) * norm || norm <= TOLERANCE
                }
                Err(Failure::Fatal) => return Err(InitError::Eval { component: None }),
                Err(_) => false,
            };
            if better {
                break;
            }
            lambda *= 0.5;
            if lambda < 1e-8 {
                return Err(InitError::NoConvergence { iterations: iteration + 1, component });
            }
        }
        x.copy_from_slice(&x_try);
        xp.copy_from_slice(&xp_try);
        if norm <= TOLERANCE && lambda == 1.0 {
            return Ok(stats);
        }
    }
    Err(InitError::NoConvergence { iterations: ITERATIONS, component })
}
