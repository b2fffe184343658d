//! Initial value problems x' = f(t, x): one interface from Euler to variable-order BDF.
//!
//! ```
//! use saltus_solver::ode::*;
//! struct Decay;
//! impl OdeSystem for Decay {
//!     fn dim(&self) -> usize { 1 }
//!     fn rhs(&mut self, _t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
//!         dx[0] = -x[0];
//!         Ok(())
//!     }
//! }
//! let mut bdf = make_integrator("bdf", 1, Options::new(1, 1e-6, 1e-9)).unwrap();
//! bdf.restart(&mut Decay, 0.0, &[1.0], Restart::Cold)?;
//! while bdf.step(&mut Decay, 1.0)? == StepOutcome::Step {}
//! assert!((bdf.x()[0] - (-1f64).exp()).abs() < 1e-5);
//! # Ok::<(), StepError>(())
//! ```
//!
//! | name | method | order | dense output order | for |
//! |---|---|---|---|---|
//! | `bdf` | variable-order BDF, Nordsieck form (CVODE class) | 1–5 | same | stiff, large, few events |
//! | `dae` | the same in fixed-leading-coefficient form on F(t, z, z') = 0 (IDA class) | 1–5 | same | large sparse algebraic loops |
//! | `lsoda` | Adams 1–12 and BDF 1–5, switching by stiffness | 1–12 | same | unknown stiffness |
//! | `radau` | Radau IIA, 3 stages | 5 | 4; 3 in the first step after a restart and for stiff components | stiff, sharp tolerances |
//! | `esdirk` | ESDIRK 4(3), Kennedy and Carpenter | 4 | 4; 3 in the first step after a restart | stiff, many events |
//! | `rosenbrock` | Rodas5P, Steinebach | 5 | 4 | stiff, small, many events |
//! | `dopri5`, `tsit5` | explicit Runge–Kutta 5(4) | 5 | 4 | not stiff |
//! | `rkf45` | Fehlberg 4(5) | 4 | 4 | not stiff |
//! | `euler`, `modified-euler`, `midpoint`, `heun`, `rk4` | explicit one-step; step doubling unless `fixed_step` | 1, 2, 2, 2, 4 | 1–3 | teaching, real time |
//! | `backward-euler`, `trapezoid` | implicit one-step; step doubling unless `fixed_step` | 1, 2 | 1, 3 | teaching, real time |
//! | `qss` | linearly implicit quantized states (LIQSS2): every state at its own pace | 2 | 2 | many states of which few move, loose tolerances |
//! | `ab2`, `ab3`, `ab4`, `milne` | multistep, fixed step, started by `rk4` | 2, 3, 4, 4 | 3 | teaching |

pub(crate) mod control;
mod embedded;
mod esdirk;
mod fixed;
mod implicit;
pub(crate) mod iteration;
mod multistep;
mod qss;
mod radau;
mod rosenbrock;
mod stiffness;

pub use embedded::EmbeddedRk;
pub use esdirk::Esdirk;
pub use fixed::FixedStep;
pub use implicit::{Implicit, ImplicitSystem};
pub use iteration::{DifferenceJacobian, JacobianMatrix};
pub use multistep::Multistep;
pub use qss::Qss;
pub use radau::Radau;
pub use rosenbrock::Rosenbrock;
pub use stiffness::{Spectrum, spectrum};

pub use crate::linear::{Linear, Pattern};

/// Why an evaluation could not be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvalError {
    /// Outside the domain (NaN, square root of a negative number): cut the step.
    Domain,
    /// Unrecoverable: stop.
    Fatal,
}

/// The system x' = f(t, x).
pub trait OdeSystem {
    /// Number of states.
    fn dim(&self) -> usize;
    /// dx = f(t, x).
    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError>;
    /// The components `which` of f(t, x) into the same components of `dx`; others may be written or not. Asked by `qss`, the
    /// same few sets again and again.
    fn rhs_some(&mut self, t: f64, x: &[f64], _which: &[usize], dx: &mut [f64]) -> Result<(), EvalError> {
        self.rhs(t, x, dx)
    }
    /// ∂f/∂x at (t, x) into `jac`, which is zero on entry unless it has its stamp from the last time; `false` if there is none,
    /// then coloured finite differences are used.
    fn jacobian(&mut self, _t: f64, _x: &[f64], _jac: &mut JacobianMatrix) -> Result<bool, EvalError> {
        Ok(false)
    }
    /// ds = ∂f/∂x · s + ∂f/∂p_k at (t, x), the right-hand side of the sensitivity s = ∂x/∂p_k; `false` if there is none.
    /// [`directional`] helps to write it by differences. See [`Multistep::with_sensitivities`].
    fn sensitivity(&mut self, _t: f64, _x: &[f64], _s: &[f64], _k: usize, _ds: &mut [f64]) -> Result<bool, EvalError> {
        Ok(false)
    }
    /// Pattern of ∂f/∂x; `None` means full. Asked at a cold restart.
    fn sparsity(&self) -> Option<&Pattern> {
        None
    }
    /// The same system as F(t, z, z') = 0 with algebraic unknowns, if it has such a form. Asked by `dae`; may change at a
    /// restart only.
    fn implicit(&mut self) -> Option<&mut dyn ImplicitSystem> {
        None
    }
}

/// ∂f/∂x · s + ∂f/∂p by a central difference: `f(x, shift, dx)` evaluates f with p raised by `shift`. `size` is the typical
/// size of p, `scratch` has room for three vectors.
pub fn directional(
    mut f: impl FnMut(&[f64], f64, &mut [f64]) -> Result<(), EvalError>,
    x: &[f64],
    s: &[f64],
    size: f64,
    scratch: &mut Vec<f64>,
    ds: &mut [f64],
) -> Result<(), EvalError> {
    let n = x.len();
    scratch.resize(3 * n, 0.0);
    let (y, rest) = scratch.split_at_mut(n);
    let (up, down) = rest.split_at_mut(n);
    // As large as the states can bear: a change of p by `size` changes x by s·size.
    let ratio = s.iter().zip(x).map(|(s, x)| (s * size).abs() / (x.abs() + 1e-3 * size.abs())).fold(1.0, f64::max);
    let shift = f64::EPSILON.cbrt() * size.abs().max(1e-12) / ratio;
    for (sign, out) in [(1.0, &mut *up), (-1.0, &mut *down)] {
        for i in 0..n {
            y[i] = x[i] + sign * shift * s[i];
        }
        f(y, sign * shift, out)?;
    }
    for i in 0..n {
        ds[i] = (up[i] - down[i]) / (2.0 * shift);
    }
    Ok(())
}

/// What the user may set of an integrator.
#[derive(Debug, Clone)]
pub struct Options {
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance of each component, nominal value already multiplied in. The error weight is
    /// W_i = rtol·|x_i| + atol_i.
    pub atol: Vec<f64>,
    /// First step; `None`: by heuristic.
    pub h_init: Option<f64>,
    /// Largest step.
    pub h_max: f64,
    /// Smallest step; 0: as long as t + h ≠ t.
    pub h_min: f64,
    /// Highest order of variable-order methods.
    pub max_order: usize,
    /// Constant step without error test; `None`: error controlled.
    pub fixed_step: Option<f64>,
    /// Attempted steps until [`StepError::TooMuchWork`], counted from construction.
    pub max_steps: usize,
    /// How the linear systems of implicit methods are solved.
    pub linear: Linear,
    /// Lower and upper bound of each component, or empty. A step that leaves them by more than its error
    /// weight is retried smaller; smaller violations are cut off.
    pub bounds: Vec<(f64, f64)>,
}

impl Options {
    /// Defaults with one absolute tolerance for all n components.
    pub fn new(n: usize, rtol: f64, atol: f64) -> Self {
        Options {
            rtol,
            atol: vec![atol; n],
            h_init: None,
            h_max: f64::INFINITY,
            h_min: 0.0,
            max_order: 12,
            fixed_step: None,
            max_steps: usize::MAX,
            linear: Linear::Auto,
            bounds: Vec::new(),
        }
    }
}

/// Why [`Integrator::step`] came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOutcome {
    /// A step [t_prev, t] was accepted, short of the stop time.
    Step,
    /// The accepted step ends at the stop time, bit for bit.
    ReachedStop,
}

/// Why a step could not be taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepError {
    /// The error test kept failing down to the smallest step.
    TooSmall {
        /// Start of the step.
        t: f64,
        /// Last step size tried.
        h: f64,
        /// Component with the largest weighted error.
        component: usize,
    },
    /// `max_steps` used up.
    TooMuchWork {
        /// Time reached.
        t: f64,
    },
    /// The implicit equations kept failing down to the smallest step.
    NewtonFailed {
        /// Start of the step.
        t: f64,
        /// Last step size tried.
        h: f64,
        /// Component with the largest weighted correction.
        component: usize,
    },
    /// The right-hand side gave up: fatally, or outside its domain down to the smallest step.
    Eval {
        /// Start of the step.
        t: f64,
        /// Last step size tried.
        h: f64,
        /// Whether it said [`EvalError::Fatal`].
        fatal: bool,
    },
    /// A fixed step is too large for an explicit method: what the system damps grows from step to step.
    Unstable {
        /// Time reached.
        t: f64,
        /// The step.
        h: f64,
        /// Component that moves most.
        component: usize,
        /// About the largest step that is stable.
        limit: f64,
    },
    /// The right-hand side gave NaN or infinity down to the smallest step.
    NonFinite {
        /// Where it was evaluated.
        t: f64,
        /// First such component.
        component: usize,
    },
}

impl StepError {
    /// The component to blame, if there is one.
    pub fn component(&self) -> Option<usize> {
        match *self {
            StepError::TooSmall { component, .. }
            | StepError::NewtonFailed { component, .. }
            | StepError::Unstable { component, .. }
            | StepError::NonFinite { component, .. } => Some(component),
            StepError::TooMuchWork { .. } | StepError::Eval { .. } => None,
        }
    }
}

impl std::fmt::Display for StepError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StepError::TooSmall { t, h, component } => {
                write!(f, "step size {h:.3e} too small at t = {t}: error test fails most in component {component}")
            }
            StepError::Unstable { t, h, component, limit } => write!(
                f,
                "the fixed step {h:.3e} is too large for this method: component {component} grows from step to step at t = {t}, steps below {limit:.1e} are stable"
            ),
            StepError::TooMuchWork { t } => write!(f, "maximum number of steps used up at t = {t}"),
            StepError::NewtonFailed { t, h, component } => {
                write!(f, "Newton iteration fails at t = {t} with step {h:.3e}, worst in component {component}")
            }
            StepError::Eval { t, fatal: true, .. } => write!(f, "right-hand side failed at t = {t}"),
            StepError::Eval { t, h, .. } => {
                write!(f, "right-hand side cannot be evaluated beyond t = {t} (step {h:.3e})")
            }
            StepError::NonFinite { t, component } => {
                write!(f, "right-hand side is not finite at t = {t} in component {component}")
            }
        }
    }
}

impl std::error::Error for StepError {}

/// How much of the past a restart keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// Everything new: first step by heuristic, lowest order.
    Cold,
    /// Values jumped but the system is of the same kind: lowest order, step size from before. The Jacobian is a new one: what was
    /// switched off may be all that made the system stiff.
    Warm,
    /// Nothing discontinuous happened: history and order are kept. t may lie inside the last step.
    Hot,
}

/// Counters since construction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Accepted steps.
    pub steps: usize,
    /// Evaluations of f, those for finite differences included.
    pub rhs_evals: usize,
    /// Jacobians.
    pub jac_evals: usize,
    /// LU factorizations (a complex one counts as one).
    pub lu_factorizations: usize,
    /// Newton (or functional) iterations.
    pub newton_iters: usize,
    /// Steps rejected by the error test.
    pub error_test_failures: usize,
    /// Steps rejected since the implicit equations did not converge.
    pub conv_failures: usize,
    /// Steps rejected since f could not be evaluated.
    pub eval_failures: usize,
    /// Restarts of any kind.
    pub restarts: usize,
    /// Changes between Adams and BDF (lsoda).
    pub method_switches: usize,
    /// Products with the matrix by GMRES, where it is used.
    pub krylov_iters: usize,
    /// Order of the last step.
    pub last_order: usize,
    /// Size of the last step.
    pub last_h: f64,
}

/// A numerical integrator. After construction, [`Integrator::restart`] comes first.
pub trait Integrator {
    /// The name [`make_integrator`] knows it by.
    fn name(&self) -> &'static str;
    /// Starts, or starts again after an event, from (t, x).
    fn restart(&mut self, sys: &mut dyn OdeSystem, t: f64, x: &[f64], kind: Restart) -> Result<(), StepError>;
    /// Advances by one accepted step, never past `tstop`. After an error the state is that of the last accepted step.
    fn step(&mut self, sys: &mut dyn OdeSystem, tstop: f64) -> Result<StepOutcome, StepError>;
    /// Takes the last step again, ending at `t` inside it or before: the dense output of stiff components is good at the ends
    /// of a step only. False, and nothing has changed, if the method does not offer that or the shorter step fails.
    fn retake(&mut self, _sys: &mut dyn OdeSystem, _t: f64) -> bool {
        false
    }
    /// Whether [`Self::retake`] is offered.
    fn retakes(&self) -> bool {
        false
    }
    /// Whether a step depends on its beginning alone, so that it is as good after a restart as later.
    fn one_step(&self) -> bool {
        false
    }
    /// The step just taken again has ended without what it was to end at: dense output was wrong over the longer one, and the next steps grow
    /// from this one instead of going back to that length.
    fn grow_from_here(&mut self) {}
    /// Something depends on the ends of steps by a large factor, or no longer does: iterations leave as little as they can.
    fn sharpen(&mut self, _on: bool) {}
    /// End of the last accepted step.
    fn t(&self) -> f64;
    /// Start of the last accepted step; equal to [`Self::t`] after a restart.
    fn t_prev(&self) -> f64;
    /// State at [`Self::t`].
    fn x(&self) -> &[f64];
    /// What component i has become wrong by in the last step, by the method's own estimate; none if it makes no estimates.
    fn local_error(&self, _i: usize) -> Option<f64> {
        None
    }
    /// Dense output at any t in [t_prev, t].
    fn interpolate(&self, t: f64, x: &mut [f64]);
    /// Derivative of the dense output.
    fn interpolate_derivative(&self, t: f64, dx: &mut [f64]);
    /// Dense output of component i in powers of s = (t − t_prev)/(t_end − t_prev), constant term first.
    fn polynomial(&self, i: usize, coeffs: &mut Vec<f64>);
    /// Counters.
    fn stats(&self) -> &Stats;
    /// Current options.
    fn options(&self) -> &Options;
    /// Changes options; they take effect with the next step. `atol` must keep its length.
    fn set_options(&mut self, opts: Options);
    /// Changes the largest step only.
    fn set_max_step(&mut self, h_max: f64);
    /// Gives sensitivities their values after a restart, see [`Multistep::with_sensitivities`].
    fn set_sensitivities(&mut self, _s: &[f64]) {}
    /// Dense output of ∂x/∂p_k.
    fn interpolate_sensitivity(&self, _k: usize, _t: f64, _s: &mut [f64]) {}
}

/// All names [`make_integrator`] accepts.
pub const INTEGRATORS: &[&str] = &[
    "bdf",
    "dae",
    "radau",
    "esdirk",
    "rosenbrock",
    "lsoda",
    "dopri5",
    "tsit5",
    "rkf45",
    "euler",
    "modified-euler",
    "midpoint",
    "heun",
    "rk4",
    "ab2",
    "ab3",
    "ab4",
    "milne",
    "backward-euler",
    "trapezoid",
    "qss",
];

/// Those of [`INTEGRATORS`] that take a constant step ([`Options::fixed_step`]) by default.
pub const FIXED_STEP: &[&str] = &[
    "euler",
    "modified-euler",
    "midpoint",
    "heun",
    "rk4",
    "ab2",
    "ab3",
    "ab4",
    "milne",
    "backward-euler",
    "trapezoid",
];

/// The integrator of that name for n states; `None` if there is no such name.
pub fn make_integrator(name: &str, n: usize, opts: Options) -> Option<Box<dyn Integrator>> {
    assert_eq!(opts.atol.len(), n, "one absolute tolerance per state");
    Some(match name {
        "bdf" => Box::new(Multistep::bdf(n, opts)),
        "dae" => Box::new(Implicit::new(n, opts)),
        "lsoda" => Box::new(Multistep::lsoda(n, opts)),
        "radau" => Box::new(Radau::new(n, opts)),
        "esdirk" => Box::new(Esdirk::new(n, opts)),
        "rosenbrock" => Box::new(Rosenbrock::new(n, opts)),
        "dopri5" => Box::new(EmbeddedRk::dopri5(n, opts)),
        "tsit5" => Box::new(EmbeddedRk::tsit5(n, opts)),
        "rkf45" => Box::new(EmbeddedRk::rkf45(n, opts)),
        "qss" => Box::new(Qss::new(n, opts)),
        _ => Box::new(FixedStep::new(name, n, opts)?),
    })
}
