//! The ladder: one method after the other until one solves F(z) = 0.
//!
//! Newton → Levenberg–Marquardt → dogleg → (one unknown: bracketing) → Newton homotopy → fixed-point homotopy →
//! piecewise-linear continuation → multi-start in the bounds. Every method but the first only has to come near; Newton supplies the digits.

use super::homotopy::{FixedPointHomotopy, HomotopyFailure, HomotopyOptions, NewtonHomotopy, continuation};
use super::newton::{NewtonFailure, NewtonOptions, NewtonReport, NewtonWork, Trouble, jacobian, newton, row_scales};
use super::simplicial::{SimplicialOptions, simplicial};
use super::trust::{Descent, Stream, dogleg, levenberg_marquardt};
use super::{DomainError, NonlinearSystem, checked};

/// Systems with more unknowns are not cut into simplices: each step of the path passes through one vertex.
pub const SIMPLICIAL_MOST: usize = 60;

/// Simplices that a path may pass through, for each unknown.
const PIVOTS: usize = 2000;

/// A rung of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Damped Newton from the guess.
    Newton,
    /// Levenberg–Marquardt, which survives singular Jacobians.
    LevenbergMarquardt,
    /// Powell's dogleg.
    Dogleg,
    /// A sign change searched outwards from the guess; one unknown only.
    Bracketing,
    /// Continuation of F(z) − (1 − λ) F(z₀).
    NewtonHomotopy,
    /// Continuation of λ F(z) ± (1 − λ)(z − z₀).
    FixedPointHomotopy,
    /// Continuation from simplex to simplex, without derivatives; up to [`SIMPLICIAL_MOST`] unknowns.
    PiecewiseLinear,
    /// Newton and Levenberg–Marquardt from random points in the bounds.
    MultiStart,
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Newton => "Newton",
            Self::LevenbergMarquardt => "Levenberg-Marquardt",
            Self::Dogleg => "dogleg",
            Self::Bracketing => "bracketing",
            Self::NewtonHomotopy => "Newton homotopy",
            Self::FixedPointHomotopy => "fixed-point homotopy",
            Self::PiecewiseLinear => "piecewise-linear continuation",
            Self::MultiStart => "multi-start",
        })
    }
}

/// Which methods [`solve()`] may use, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveOptions {
    /// Tolerances, scales and bounds for all methods.
    pub newton: NewtonOptions,
    /// The methods in the order in which they are tried.
    pub methods: Vec<Method>,
    /// Step control of the homotopies; its own `newton` field is ignored.
    pub homotopy: HomotopyOptions,
    /// Random points tried by multi-start.
    pub starts: usize,
    /// Selects the random points.
    pub seed: u64,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            newton: NewtonOptions::default(),
            methods: vec![
                Method::Newton,
                Method::LevenbergMarquardt,
                Method::Dogleg,
                Method::Bracketing,
                Method::NewtonHomotopy,
                Method::FixedPointHomotopy,
                Method::PiecewiseLinear,
                Method::MultiStart,
            ],
            homotopy: HomotopyOptions { max_steps: 400, ..Default::default() },
            starts: 40,
            seed: 1,
        }
    }
}

/// One rung that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The method.
    pub method: Method,
    /// Its iterations, steps or starts.
    pub iterations: usize,
    /// Largest scaled residual where it ended (infinite if unknown).
    pub residual_norm: f64,
    /// Whether it solved the system.
    pub solved: bool,
    /// Why it ended, in words.
    pub note: String,
}

/// A solution and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveReport {
    /// The method that succeeded.
    pub method: Method,
    /// All methods tried, the successful one last.
    pub tried: Vec<Attempt>,
    /// The final Newton iteration.
    pub newton: NewtonReport,
}

/// Nothing helped.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveFailure {
    /// All methods tried.
    pub tried: Vec<Attempt>,
    /// The best point found (also left in `z`).
    pub at: Trouble,
}

impl std::fmt::Display for SolveFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "no solution found; equation {} is off by {:.3e} of its scale; tried",
            self.at.worst_row, self.at.residual_norm
        )?;
        for (k, attempt) in self.tried.iter().enumerate() {
            write!(f, "{} {} ({})", if k == 0 { "" } else { "," }, attempt.method, attempt.note)?;
        }
        Ok(())
    }
}

impl std::error::Error for SolveFailure {}

/// Solves F(z) = 0 by trying `opts.methods` in order. On failure `z` holds the best point found.
///
/// ```
/// use saltus_solver::nonlinear::{FnSystem, Method, SolveOptions, solve};
/// // The Jacobian is singular at the guess.
/// let mut cube = FnSystem::new(1, |z: &[f64], r: &mut [f64]| {
///     r[0] = z[0].powi(3) - 1.0;
///     Ok(())
/// });
/// let mut z = [0.0];
/// let report = solve(&mut cube, &mut z, &SolveOptions::default()).unwrap();
/// assert!((z[0] - 1.0).abs() < 1e-14);
/// assert_eq!(report.method, Method::LevenbergMarquardt);
/// ```
pub fn solve<S: NonlinearSystem + ?Sized>(
    sys: &mut S,
    z: &mut [f64],
    opts: &SolveOptions,
) -> Result<SolveReport, SolveFailure> {
    let n = sys.dim();
    let mut ladder = Ladder {
        sys,
        opts,
        n,
        work: NewtonWork::new(),
        stream: Stream(opts.seed ^ 0x005a_1705),
        tried: Vec::new(),
        best: None,
    };
    let z = &mut z[..n];
    let guess: Vec<f64> = z.to_vec();
    let Some(start) = ladder.evaluable(&guess) else {
        ladder.tried.push(Attempt {
            method: Method::MultiStart,
            iterations: 0,
            residual_norm: f64::INFINITY,
            solved: false,
            note: "no point found at which the residual can be evaluated".into(),
        });
        let at = Trouble { best: guess, residual_norm: f64::INFINITY, ..Default::default() };
        return Err(SolveFailure { tried: ladder.tried, at });
    };
    for &method in &opts.methods {
        if (method == Method::Bracketing && n != 1) || (method == Method::PiecewiseLinear && n > SIMPLICIAL_MOST) {
            continue;
        }
        z.copy_from_slice(&start);
        let result = match method {
            Method::Newton => ladder.newton(method, z),
            Method::LevenbergMarquardt | Method::Dogleg => ladder.descend(method, z),
            Method::Bracketing => ladder.bracket(z),
            Method::NewtonHomotopy | Method::FixedPointHomotopy => ladder.homotopy(method, z),
            Method::PiecewiseLinear => ladder.simplices(z),
            Method::MultiStart => ladder.multi_start(z),
        };
        if let Some(newton) = result {
            return Ok(SolveReport { method, tried: ladder.tried, newton });
        }
    }
    let at = ladder.best.unwrap_or_else(|| Trouble { best: start, residual_norm: f64::INFINITY, ..Default::default() });
    z.copy_from_slice(&at.best);
    Err(SolveFailure { tried: ladder.tried, at })
}

struct Ladder<'a, S: ?Sized> {
    sys: &'a mut S,
    opts: &'a SolveOptions,
    n: usize,
    work: NewtonWork,
    stream: Stream,
    tried: Vec<Attempt>,
    best: Option<Trouble>,
}

impl<S: NonlinearSystem + ?Sized> Ladder<'_, S> {
    fn can_evaluate(&mut self, z: &[f64]) -> bool {
        let mut r = vec![0.0; self.n];
        z.iter().all(|v| v.is_finite()) && checked(self.sys.residual(z, &mut r), &r).is_ok()
    }

    /// The guess, moved into the bounds, or a random point if F cannot be evaluated there.
    fn evaluable(&mut self, guess: &[f64]) -> Option<Vec<f64>> {
        let center: Vec<f64> = (0..self.n)
            .map(|j| {
                let v = if guess[j].is_finite() { guess[j] } else { self.opts.newton.nominal_of(j).unwrap_or(0.0) };
                self.opts.newton.clamp(j, v)
            })
            .collect();
        if self.can_evaluate(&center) {
            return Some(center);
        }
        (0..200).find_map(|_| {
            let z = self.random_point(&center);
            self.can_evaluate(&z).then_some(z)
        })
    }

    fn random_point(&mut self, center: &[f64]) -> Vec<f64> {
        (0..self.n)
            .map(|j| {
                let (lo, hi) = self.opts.newton.bounds_of(j);
                let (u, v) = (self.stream.next(), self.stream.next());
                let weight = self.opts.newton.weight(j, center[j]);
                let offset = weight * 10f64.powf(4.0 * u - 2.0);
                let point = match (lo.is_finite(), hi.is_finite()) {
                    (true, true) if lo > 0.0 && hi / lo > 1e3 => lo * (hi / lo).powf(u),
                    (true, true) => lo + u * (hi - lo),
                    (true, false) => lo + offset,
                    (false, true) => hi - offset,
                    (false, false) => center[j] + if v < 0.5 { -offset } else { offset },
                };
                self.opts.newton.clamp(j, point)
            })
            .collect()
    }

    fn note_best(&mut self, at: &Trouble) {
        if self.best.as_ref().is_none_or(|b| at.residual_norm < b.residual_norm) {
            self.best = Some(at.clone());
        }
    }

    fn record(&mut self, method: Method, iterations: usize, residual_norm: f64, solved: bool, note: String) {
        self.tried.push(Attempt { method, iterations, residual_norm, solved, note });
    }

    fn run_newton(&mut self, z: &mut [f64]) -> Result<NewtonReport, NewtonFailure> {
        let result = newton(self.sys, z, &self.opts.newton, &mut self.work);
        if let Err(failure) = &result {
            self.note_best(failure.trouble());
        }
        result
    }

    fn newton(&mut self, method: Method, z: &mut [f64]) -> Option<NewtonReport> {
        let result = self.run_newton(z);
        match &result {
            Ok(r) => self.record(method, r.iterations, r.residual_norm, true, "solved".into()),
            Err(e) => {
                let at = e.trouble();
                let (iterations, norm) = (at.iterations, at.residual_norm);
                self.record(method, iterations, norm, false, e.to_string());
            }
        }
        result.ok()
    }

    /// A descent method followed by Newton; a root with singular Jacobian is accepted when nothing moves any more.
    fn run_descent(&mut self, method: Method, z: &mut [f64]) -> Result<(NewtonReport, usize), (Descent, String)> {
        let limit = 200;
        let result = match method {
            Method::Dogleg => dogleg(self.sys, z, &self.opts.newton, limit),
            _ => levenberg_marquardt(self.sys, z, &self.opts.newton, limit),
        };
        let descent = match result {
            Ok(d) => d,
            Err(DomainError) => {
                let nowhere = Descent { residual_norm: f64::INFINITY, ..Default::default() };
                return Err((nowhere, "left the domain".into()));
            }
        };
        let reached = z.to_vec();
        match self.run_newton(z) {
            Ok(mut report) => {
                if report.iterations == 0 {
                    report.degenerate = self.singular(z);
                }
                Ok((report, descent.iterations))
            }
            Err(failure) => {
                z.copy_from_slice(&reached);
                if descent.residual_norm <= 1e3 * f64::EPSILON && descent.last_step <= 1e-6 {
                    let report = NewtonReport {
                        iterations: descent.iterations,
                        residuals: descent.residuals,
                        residual_norm: descent.residual_norm,
                        last_step: descent.last_step,
                        pivot_ratio: 0.0,
                        degenerate: true,
                    };
                    return Ok((report, descent.iterations));
                }
                let note = format!("stopped at a residual of {:.3e}; then {failure}", descent.residual_norm);
                Err((descent, note))
            }
        }
    }

    /// Whether the Jacobian is singular at z.
    fn singular(&mut self, z: &[f64]) -> bool {
        let n = self.n;
        let (mut r, mut tmp, mut jac) = (vec![0.0; n], vec![0.0; n], vec![0.0; n * n]);
        let mut point = z.to_vec();
        let weight: Vec<f64> = (0..n).map(|j| self.opts.newton.weight(j, z[j])).collect();
        self.sys.residual(z, &mut r).is_err()
            || jacobian(self.sys, &mut point, &r, &self.opts.newton, &mut tmp, &mut jac).is_err()
            || self.work.lu.factor(n, &jac, &weight).is_err()
    }

    fn descend(&mut self, method: Method, z: &mut [f64]) -> Option<NewtonReport> {
        match self.run_descent(method, z) {
            Ok((report, iterations)) => {
                self.record(method, iterations, report.residual_norm, true, "solved".into());
                Some(report)
            }
            Err((descent, note)) => {
                self.record(method, descent.iterations, descent.residual_norm, false, note);
                None
            }
        }
    }

    /// One unknown: walks outwards from the guess in growing steps until the residual changes sign, then bisects.
    fn bracket(&mut self, z: &mut [f64]) -> Option<NewtonReport> {
        let weight = self.opts.newton.weight(0, z[0]);
        let center = z[0];
        let f = |this: &mut Self, x: f64| {
            let mut r = [0.0];
            (x.is_finite() && checked(this.sys.residual(&[x], &mut r), &r).is_ok()).then_some(r[0])
        };
        let (lo, hi) = self.opts.newton.bounds_of(0);
        let mut evaluations = 0;
        let mut brackets: Vec<(f64, f64)> = Vec::new();
        for direction in [1.0, -1.0] {
            let mut previous: Option<(f64, f64)> = None;
            let mut last = f64::NAN;
            for k in 0..160 {
                let x = (center + direction * weight * if k == 0 { 0.0 } else { 1e-3 * 1.25f64.powi(k) }).clamp(lo, hi);
                if x == last {
                    break;
                }
                last = x;
                evaluations += 1;
                let Some(value) = f(self, x) else { continue };
                if let Some((x0, f0)) = previous
                    && (f0 < 0.0) != (value < 0.0)
                {
                    brackets.push((x0, x));
                    break;
                }
                previous = Some((x, value));
            }
        }
        brackets.sort_by(|a, b| (a.0 - center).abs().total_cmp(&(b.0 - center).abs()));
        for (mut a, mut b) in brackets {
            let Some(fa) = f(self, a) else { continue };
            for _ in 0..60 {
                let m = 0.5 * (a + b);
                evaluations += 1;
                match f(self, m) {
                    Some(v) if (v < 0.0) == (fa < 0.0) => a = m,
                    _ => b = m,
                }
            }
            z[0] = a;
            if let Ok(report) = self.run_newton(z) {
                self.record(Method::Bracketing, evaluations, report.residual_norm, true, "solved".into());
                return Some(report);
            }
        }
        self.record(Method::Bracketing, evaluations, f64::INFINITY, false, "no usable sign change".into());
        None
    }

    fn homotopy(&mut self, method: Method, z: &mut [f64]) -> Option<NewtonReport> {
        let options = HomotopyOptions { newton: self.opts.newton.clone(), ..self.opts.homotopy.clone() };
        let start = z.to_vec();
        let mut note = String::new();
        let mut steps = 0;
        let signs: &[f64] = if method == Method::NewtonHomotopy { &[1.0] } else { &[1.0, -1.0] };
        for &sign in signs {
            z.copy_from_slice(&start);
            let result = if method == Method::NewtonHomotopy {
                match NewtonHomotopy::new(self.sys, &start) {
                    Ok(mut h) => continuation(&mut h, z, &options),
                    Err(DomainError) => Err(HomotopyFailure::Start),
                }
            } else {
                let (row, weight) = self.scales(&start);
                continuation(&mut FixedPointHomotopy::new(self.sys, &start, &row, &weight, sign), z, &options)
            };
            match result {
                Ok(done) => {
                    steps += done.steps;
                    // The end point solves the scaled problem; confirm it for the original one.
                    match self.run_newton(z) {
                        Ok(report) => {
                            self.record(method, steps, report.residual_norm, true, "solved".into());
                            return Some(report);
                        }
                        Err(e) => note = e.to_string(),
                    }
                }
                Err(HomotopyFailure::Start) => note = "no path leaves the guess".into(),
                Err(HomotopyFailure::Stuck { lambda, steps: s, .. }) => {
                    steps += s;
                    note = format!("stuck at λ = {lambda:.4}");
                }
                Err(HomotopyFailure::Lost { lambda, steps: s }) => {
                    steps += s;
                    note = format!("the path turned back after λ = {lambda:.4}");
                }
            }
        }
        self.record(method, steps, f64::INFINITY, false, note);
        None
    }

    /// Follows the zeros of the piecewise-linear interpolant, first on a coarse mesh; Newton where the residual lets it.
    fn simplices(&mut self, z: &mut [f64]) -> Option<NewtonReport> {
        let start = z.to_vec();
        let weight: Vec<f64> = (0..self.n).map(|j| self.opts.newton.weight(j, z[j])).collect();
        let (mut pivots, mut note) = (0, String::new());
        // A path passes through more simplices the more unknowns there are; one that is longer by far runs away.
        let default = SimplicialOptions::default();
        let max_pivots = default.max_pivots.min(PIVOTS * (self.n + 1));
        for mesh in [0.5, 0.05, 5.0] {
            z.copy_from_slice(&start);
            let options = SimplicialOptions { mesh, max_pivots, scales: weight.clone(), ..default };
            match simplicial(self.sys, z, &options) {
                Ok(found) => {
                    pivots += found.pivots;
                    let reached = z.to_vec();
                    let newton = self.run_newton(z).ok();
                    // At a kink Newton may not settle; the interpolant's zero is as good as its mesh.
                    if let Some(report) = newton.or_else(|| self.settled(&reached, z)) {
                        self.record(Method::PiecewiseLinear, pivots, report.residual_norm, true, "solved".into());
                        return Some(report);
                    }
                    note = "its end is not a solution".into();
                }
                Err(e) => note = e.to_string(),
            }
        }
        self.record(Method::PiecewiseLinear, pivots, f64::INFINITY, false, note);
        None
    }

    /// The point as a solution, if its residual is that of rounding.
    fn settled(&mut self, at: &[f64], z: &mut [f64]) -> Option<NewtonReport> {
        let (row, _) = self.scales(at);
        let mut r = vec![0.0; self.n];
        checked(self.sys.residual(at, &mut r), &r).ok()?;
        let residual_norm = r.iter().zip(&row).fold(0.0f64, |m, (r, s)| m.max((r / s).abs()));
        (residual_norm <= 1e-10).then(|| {
            z.copy_from_slice(at);
            NewtonReport { residual_norm, degenerate: true, ..NewtonReport::default() }
        })
    }

    /// Row scales and weights at z; ones where the Jacobian is not available.
    fn scales(&mut self, z: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = self.n;
        let weight: Vec<f64> = (0..n).map(|j| self.opts.newton.weight(j, z[j])).collect();
        let mut row = vec![1.0; n];
        let (mut r, mut tmp, mut jac) = (vec![0.0; n], vec![0.0; n], vec![0.0; n * n]);
        let mut point = z.to_vec();
        if self.sys.residual(z, &mut r).is_ok()
            && jacobian(self.sys, &mut point, &r, &self.opts.newton, &mut tmp, &mut jac).is_ok()
        {
            row_scales(&jac, &weight, &mut row);
        }
        (row, weight)
    }

    fn multi_start(&mut self, z: &mut [f64]) -> Option<NewtonReport> {
        let center = z.to_vec();
        let mut best = f64::INFINITY;
        for start in 1..=self.opts.starts {
            let point = self.random_point(&center);
            if !self.can_evaluate(&point) {
                continue;
            }
            z.copy_from_slice(&point);
            let result = match self.run_newton(z) {
                Ok(report) => Some(report),
                Err(e) => {
                    best = best.min(e.trouble().residual_norm);
                    if start % 4 == 1 {
                        z.copy_from_slice(&point);
                        self.run_descent(Method::LevenbergMarquardt, z).ok().map(|(report, _)| report)
                    } else {
                        None
                    }
                }
            };
            if let Some(report) = result {
                self.record(Method::MultiStart, start, report.residual_norm, true, "solved".into());
                return Some(report);
            }
        }
        self.record(Method::MultiStart, self.opts.starts, best, false, "no start led to a solution".into());
        None
    }
}
