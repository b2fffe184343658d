//! Damped Newton with bounds, automatic scaling and a fresh Jacobian in every iteration.
//!
//! One iteration solves J d = −F(z) and takes the largest λ ∈ {1, ½, ¼, …} that lowers the residual norm
//! ‖F_i / S_i‖ with S_i = Σ_j |J_ij| w_j, or satisfies the natural monotonicity test
//! ‖J⁻¹ F(z + λd)‖ ≤ (1 − λ/4) ‖J⁻¹ F(z)‖ in the weights w_j (Deuflhard 2004, section 3.3). The weights are
//! w_j = max(|z_j|, nominal_j); without a nominal value the Newton step stands in for it, max(|z_j|, |d_j|), so that
//! unknowns of size 1e6 and 1e-6 can be mixed freely.
//!
//! Convergence means |d_j| ≤ xtol · max(|z_j|, nominal_j) after a full step, or a residual at the rounding level of
//! its own terms; from there the iteration goes on for as long as it still gains digits.

use super::dense::Lu;
use super::{DomainError, NonlinearSystem, checked, finite_differences};

/// The scale assumed for an unknown near zero for which no nominal value is known.
const FLOOR: f64 = 1e-10;

/// How [`newton`] works and when it is content.
#[derive(Debug, Clone, PartialEq)]
pub struct NewtonOptions {
    /// Largest accepted Newton step relative to the unknowns' scales.
    pub xtol: f64,
    /// Largest accepted residual relative to the row scales S_i.
    pub ftol: f64,
    /// The limit on iterations.
    pub max_iter: usize,
    /// Typical magnitude per unknown; empty, zero, negative or non-finite entries mean "not known".
    pub nominal: Vec<f64>,
    /// Lower bounds; empty means none, −∞ is allowed.
    pub min: Vec<f64>,
    /// Upper bounds; empty means none, +∞ is allowed.
    pub max: Vec<f64>,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        Self { xtol: 1e-10, ftol: 1e-8, max_iter: 100, nominal: Vec::new(), min: Vec::new(), max: Vec::new() }
    }
}

impl NewtonOptions {
    /// The nominal value of unknown j if one is known.
    pub fn nominal_of(&self, j: usize) -> Option<f64> {
        self.nominal.get(j).copied().filter(|v| v.is_finite() && *v > 0.0)
    }

    /// The bounds of unknown j; a NaN bound is no bound, crossed bounds are no bounds.
    pub fn bounds_of(&self, j: usize) -> (f64, f64) {
        let lo = self.min.get(j).copied().filter(|v| !v.is_nan()).unwrap_or(f64::NEG_INFINITY);
        let hi = self.max.get(j).copied().filter(|v| !v.is_nan()).unwrap_or(f64::INFINITY);
        if lo <= hi { (lo, hi) } else { (f64::NEG_INFINITY, f64::INFINITY) }
    }

    /// Moves z_j into its bounds.
    pub(crate) fn clamp(&self, j: usize, v: f64) -> f64 {
        let (lo, hi) = self.bounds_of(j);
        v.max(lo).min(hi)
    }

    /// The scale of unknown j at value z_j for matrices and differences: never zero.
    pub(crate) fn weight(&self, j: usize, z: f64) -> f64 {
        match self.nominal_of(j) {
            Some(nominal) => z.abs().max(nominal),
            None if z.abs() > f64::MIN_POSITIVE => z.abs(),
            None => 1.0,
        }
    }

    /// The scale of unknown j against which a step is judged.
    pub(crate) fn judge(&self, j: usize, z: f64) -> f64 {
        z.abs().max(self.nominal_of(j).unwrap_or(FLOOR))
    }
}

/// What a successful solution cost and how good it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewtonReport {
    /// Newton iterations (= Jacobians factored).
    pub iterations: usize,
    /// Residual evaluations, those for finite differences included.
    pub residuals: usize,
    /// Largest residual relative to the row scales.
    pub residual_norm: f64,
    /// Largest relative component of the last Newton step.
    pub last_step: f64,
    /// Smallest over largest pivot of the last equilibrated Jacobian; near 1e-16 means nearly singular.
    pub pivot_ratio: f64,
    /// The Jacobian is singular at the solution: a multiple root or dependent equations.
    pub degenerate: bool,
}

/// Where an unsuccessful attempt ended; `best` is also what the caller's `z` holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trouble {
    /// The point with the smallest scaled residual.
    pub best: Vec<f64>,
    /// The residual there (empty if it could not be evaluated at all).
    pub residual: Vec<f64>,
    /// Its largest entry relative to the row scales.
    pub residual_norm: f64,
    /// The row of that entry.
    pub worst_row: usize,
    /// Iterations made.
    pub iterations: usize,
    /// Residual evaluations made.
    pub residuals: usize,
}

/// Why [`newton`] gave up.
#[derive(Debug, Clone, PartialEq)]
pub enum NewtonFailure {
    /// The Jacobian is singular at the current point.
    Singular {
        /// The equation that lost its pivot.
        row: usize,
        /// The unknown for which no pivot was left.
        column: usize,
        /// Where.
        at: Trouble,
    },
    /// No further decrease, or too many iterations.
    NoConvergence {
        /// Where.
        at: Trouble,
    },
    /// The residual or its Jacobian cannot be evaluated at the start, or nowhere along the step.
    Domain {
        /// Where.
        at: Trouble,
    },
}

impl NewtonFailure {
    /// Where the attempt ended.
    pub fn trouble(&self) -> &Trouble {
        match self {
            Self::Singular { at, .. } | Self::NoConvergence { at } | Self::Domain { at } => at,
        }
    }
}

impl std::fmt::Display for NewtonFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.trouble();
        match self {
            Self::Singular { row, column, .. } => {
                write!(f, "singular Jacobian (equation {row}, unknown {column}) after {} iterations", at.iterations)
            }
            Self::NoConvergence { .. } => write!(
                f,
                "no convergence after {} iterations: equation {} is off by {:.3e} of its scale",
                at.iterations, at.worst_row, at.residual_norm
            ),
            Self::Domain { .. } => write!(f, "the residual cannot be evaluated (after {} iterations)", at.iterations),
        }
    }
}

impl std::error::Error for NewtonFailure {}

/// Scratch memory of [`newton`]; grows to the largest system it has served and is then reused.
#[derive(Debug, Clone, Default)]
pub struct NewtonWork {
    pub(crate) r: Vec<f64>,
    pub(crate) jac: Vec<f64>,
    pub(crate) lu: Lu,
    d: Vec<f64>,
    w: Vec<f64>,
    s: Vec<f64>,
    s_max: Vec<f64>,
    /// Largest |z_j| met.
    peak: Vec<f64>,
    trial: Vec<f64>,
    r_trial: Vec<f64>,
    tmp: Vec<f64>,
}

impl NewtonWork {
    /// Empty scratch memory.
    pub fn new() -> Self {
        Self::default()
    }

    fn resize(&mut self, n: usize) {
        for v in [
            &mut self.r,
            &mut self.d,
            &mut self.w,
            &mut self.s,
            &mut self.s_max,
            &mut self.peak,
            &mut self.trial,
            &mut self.r_trial,
            &mut self.tmp,
        ] {
            v.clear();
            v.resize(n, 0.0);
        }
        self.jac.clear();
        self.jac.resize(n * n, 0.0);
    }
}

impl NewtonWork {
    /// The residual is at the noise of its largest terms met and the step negligible against the largest unknowns
    /// met, although the Jacobian vanishes with the residual.
    fn at_multiple_root(&self) -> bool {
        self.r.iter().zip(&self.s_max).all(|(r, s)| r.abs() <= 64.0 * f64::EPSILON * s)
            && self.d.iter().zip(&self.peak).all(|(d, p)| d.abs() <= 1e-6 * p.max(FLOOR))
    }
}

/// The Jacobian at z: the system's own or finite differences. Returns the number of residual evaluations used.
pub(crate) fn jacobian<S: NonlinearSystem + ?Sized>(
    sys: &mut S,
    z: &mut [f64],
    r: &[f64],
    opts: &NewtonOptions,
    shifted: &mut [f64],
    jac: &mut [f64],
) -> Result<usize, DomainError> {
    jac.fill(0.0);
    let evaluations = if sys.jacobian(z, jac)? {
        0
    } else {
        let scale = |j: usize, z_j: f64| opts.nominal_of(j).map(|nominal| nominal.max(z_j.abs()));
        finite_differences(|z, r| sys.residual(z, r), z, r, scale, |j| opts.bounds_of(j), shifted, jac)?
    };
    if jac.iter().all(|v| v.is_finite()) { Ok(evaluations) } else { Err(DomainError) }
}

/// Row scales S_i = Σ_j |J_ij| w_j; a zero row gets 1.
pub(crate) fn row_scales(jac: &[f64], w: &[f64], s: &mut [f64]) {
    let n = s.len();
    s.fill(0.0);
    for (j, w_j) in w.iter().enumerate() {
        for (s_i, v) in s.iter_mut().zip(&jac[j * n..(j + 1) * n]) {
            *s_i += v.abs() * w_j;
        }
    }
    for v in s {
        if !(v.is_finite() && *v > 0.0) {
            *v = 1.0;
        }
    }
}

/// Largest |r_i| / s_i and its row.
pub(crate) fn worst(r: &[f64], s: &[f64]) -> (f64, usize) {
    let mut at = (0.0, 0);
    for (i, (r_i, s_i)) in r.iter().zip(s).enumerate() {
        let v = (r_i / s_i).abs();
        if v > at.0 {
            at = (v, i);
        }
    }
    at
}

fn norm(r: &[f64], s: &[f64]) -> f64 {
    r.iter().zip(s).map(|(r, s)| (r / s) * (r / s)).sum::<f64>().sqrt()
}

/// Whether every residual is at the rounding level of the terms J_ij z_j it is made of.
fn at_rounding_level(jac: &[f64], z: &[f64], r: &[f64], tmp: &mut [f64]) -> bool {
    let n = r.len();
    tmp.fill(0.0);
    for (j, z_j) in z.iter().enumerate() {
        for (t, v) in tmp.iter_mut().zip(&jac[j * n..(j + 1) * n]) {
            *t += (v * z_j).abs();
        }
    }
    r.iter().zip(tmp.iter()).all(|(r, t)| r.abs() <= 2.0 * f64::EPSILON * t)
}

/// Solves F(z) = 0 from the guess in `z`.
///
/// On success `z` holds the solution, on failure the best point found. A guess outside the bounds is moved onto them.
///
/// ```
/// use saltus_solver::nonlinear::{FnSystem, NewtonOptions, NewtonWork, newton};
/// let mut circle_and_line = FnSystem::new(2, |z: &[f64], r: &mut [f64]| {
///     r[0] = z[0] * z[0] + z[1] * z[1] - 2.0;
///     r[1] = z[0] - z[1];
///     Ok(())
/// });
/// let mut z = [3.0, 0.5];
/// newton(&mut circle_and_line, &mut z, &NewtonOptions::default(), &mut NewtonWork::new()).unwrap();
/// assert!((z[0] - 1.0).abs() < 1e-15 && (z[1] - 1.0).abs() < 1e-15);
/// ```
pub fn newton<S: NonlinearSystem + ?Sized>(
    sys: &mut S,
    z: &mut [f64],
    opts: &NewtonOptions,
    work: &mut NewtonWork,
) -> Result<NewtonReport, NewtonFailure> {
    let n = sys.dim();
    let mut report = NewtonReport { pivot_ratio: 1.0, ..Default::default() };
    if n == 0 {
        return Ok(report);
    }
    let z = &mut z[..n];
    work.resize(n);
    for j in 0..n {
        z[j] = opts.clamp(j, z[j]);
    }
    let trouble = |z: &[f64], r: &[f64], s: &[f64], report: &NewtonReport| {
        let (residual_norm, worst_row) = worst(r, s);
        Trouble {
            best: z.to_vec(),
            residual: r.to_vec(),
            residual_norm,
            worst_row,
            iterations: report.iterations,
            residuals: report.residuals,
        }
    };
    report.residuals += 1;
    if z.iter().any(|v| !v.is_finite()) || checked(sys.residual(z, &mut work.r), &work.r).is_err() {
        let at = Trouble { best: z.to_vec(), residual_norm: f64::INFINITY, residuals: 1, ..Default::default() };
        return Err(NewtonFailure::Domain { at });
    }
    work.s.fill(1.0);

    let mut previous_step = f64::INFINITY;
    let mut accepted = false;
    while report.iterations < opts.max_iter {
        if work.r.iter().all(|v| *v == 0.0) {
            report.residual_norm = 0.0;
            return Ok(report);
        }
        match jacobian(sys, z, &work.r, opts, &mut work.tmp, &mut work.jac) {
            Ok(evaluations) => report.residuals += evaluations,
            Err(DomainError) => {
                let at = trouble(z, &work.r, &work.s, &report);
                return if accepted { Ok(report) } else { Err(NewtonFailure::Domain { at }) };
            }
        }
        report.iterations += 1;
        for j in 0..n {
            work.w[j] = opts.weight(j, z[j]);
        }
        if let Err(at) = work.lu.factor(n, &work.jac, &work.w) {
            row_scales(&work.jac, &work.w, &mut work.s);
            report.pivot_ratio = 0.0;
            if accepted {
                report.degenerate = true;
                return Ok(report);
            }
            let trouble = trouble(z, &work.r, &work.s, &report);
            return Err(NewtonFailure::Singular { row: at.row, column: at.column, at: trouble });
        }
        report.pivot_ratio = work.lu.pivot_ratio();
        for i in 0..n {
            work.d[i] = -work.r[i];
        }
        work.lu.solve(&mut work.d);
        if work.d.iter().any(|v| !v.is_finite()) {
            let at = trouble(z, &work.r, &work.s, &report);
            return Err(NewtonFailure::Singular { row: 0, column: 0, at });
        }

        // Scales: the step itself tells the magnitude of an unknown that has no nominal value.
        let (mut step, mut relative_step) = (0.0f64, 0.0f64);
        for j in 0..n {
            let d = work.d[j].abs();
            work.peak[j] = work.peak[j].max(z[j].abs()).max(opts.nominal_of(j).unwrap_or(0.0));
            work.w[j] = match opts.nominal_of(j) {
                Some(nominal) => z[j].abs().max(nominal),
                None => z[j].abs().max(d).max(f64::MIN_POSITIVE),
            };
            step = step.max(d / opts.judge(j, z[j]));
            if d > 0.0 {
                relative_step = relative_step.max(d / z[j].abs().max((z[j] + work.d[j]).abs()).max(f64::MIN_POSITIVE));
            }
        }
        row_scales(&work.jac, &work.w, &mut work.s);
        for i in 0..n {
            work.s_max[i] = work.s_max[i].max(work.s[i]);
        }
        let before = norm(&work.r, &work.s);
        let natural_before = norm(&work.d, &work.w);
        report.residual_norm = worst(&work.r, &work.s).0;
        report.last_step = step;
        let quiet = at_rounding_level(&work.jac, z, &work.r, &mut work.tmp);

        // Line search.
        let mut lambda = 1.0;
        let mut after = f64::INFINITY;
        let mut clipped;
        let mut evaluated = false;
        let mut found = false;
        let mut cut_tried = false;
        loop {
            clipped = false;
            let mut moved = false;
            for j in 0..n {
                let v = z[j] + lambda * work.d[j];
                work.trial[j] = opts.clamp(j, v);
                clipped |= work.trial[j] != v;
                moved |= work.trial[j] != z[j];
            }
            if !moved {
                break;
            }
            report.residuals += 1;
            if checked(sys.residual(&work.trial, &mut work.r_trial), &work.r_trial).is_ok() {
                evaluated = true;
                after = norm(&work.r_trial, &work.s);
                if after <= (1.0 - 1e-4 * lambda) * before {
                    found = true;
                    break;
                }
                if !clipped && lambda > 0.01 {
                    work.tmp.copy_from_slice(&work.r_trial);
                    work.lu.solve(&mut work.tmp);
                    let natural_after = norm(&work.tmp, &work.w);
                    // The natural test must not undo convergence already reached in the residual.
                    if natural_after <= (1.0 - lambda / 4.0) * natural_before && after <= 1e4 * before {
                        found = true;
                        break;
                    }
                }
            }
            if quiet || accepted {
                break;
            }
            lambda *= 0.5;
            if lambda < 1e-9 || (evaluated && lambda < 1e-5) {
                if cut_tried || !(0..n).any(|j| opts.clamp(j, z[j] + work.d[j]) != z[j] + work.d[j]) {
                    break;
                }
                // Projection got stuck: stay strictly inside the bounds instead.
                cut_tried = true;
                lambda = 0.9 * room(z, &work.d, opts);
                if !(lambda > 1e-9) {
                    break;
                }
            }
        }

        if !found {
            if accepted || quiet {
                return Ok(report);
            }
            if step <= opts.xtol && report.residual_norm <= opts.ftol {
                return Ok(report);
            }
            // A multiple root: the residual has reached its noise although the Jacobian vanishes with it.
            if work.at_multiple_root() {
                report.degenerate = true;
                return Ok(report);
            }
            let at = trouble(z, &work.r, &work.s, &report);
            return Err(if evaluated { NewtonFailure::NoConvergence { at } } else { NewtonFailure::Domain { at } });
        }

        z.copy_from_slice(&work.trial);
        std::mem::swap(&mut work.r, &mut work.r_trial);
        report.residual_norm = worst(&work.r, &work.s).0;
        let full = lambda == 1.0 && !clipped;
        if full {
            // A linear system, or the last of a quadratically converging sequence.
            let sharp = after <= 1e-8 * before || step <= opts.xtol;
            if sharp && at_rounding_level(&work.jac, z, &work.r, &mut work.tmp) {
                return Ok(report);
            }
            if step <= opts.xtol && report.residual_norm <= opts.ftol {
                let rate = (relative_step / previous_step).min(1.0);
                if relative_step * rate <= 4.0 * f64::EPSILON || (accepted && rate > 0.25) {
                    return Ok(report);
                }
                accepted = true;
            }
        }
        previous_step = if full { relative_step } else { f64::INFINITY };
    }
    if accepted {
        return Ok(report);
    }
    if work.at_multiple_root() {
        report.degenerate = true;
        return Ok(report);
    }
    Err(NewtonFailure::NoConvergence { at: trouble(z, &work.r, &work.s, &report) })
}

/// The largest λ ≤ 1 for which z + λ d stays within the bounds.
fn room(z: &[f64], d: &[f64], opts: &NewtonOptions) -> f64 {
    let mut lambda = 1.0f64;
    for j in 0..z.len() {
        let (lo, hi) = opts.bounds_of(j);
        let limit = if d[j] > 0.0 {
            (hi - z[j]) / d[j]
        } else if d[j] < 0.0 {
            (lo - z[j]) / d[j]
        } else {
            1.0
        };
        lambda = lambda.min(limit);
    }
    lambda
}
