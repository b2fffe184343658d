//! What all one-step methods share: error weights, first step, step control, landing on the stop time.

use super::{EvalError, OdeSystem, Options, Restart, Stats, StepError, StepOutcome};
use crate::interp::StepPolynomial;

/// How many times as long as the last step the next one may be.
const GROWTH: f64 = 8.0;

/// How often a step is shortened for its dense output.
const LAYERS: usize = 8;

/// In error weights: how far dense output of stiff components may be off.
pub(crate) const FAR: f64 = 20.0;

/// How often a step that is taken again is shortened until it passes the error test.
pub(crate) const RETAKE_ATTEMPTS: usize = 16;

/// Why an attempted step came to nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Failure {
    /// f refused.
    Domain,
    /// f refused for good.
    Fatal,
    /// f gave NaN or infinity.
    NonFinite { t: f64, component: usize },
    /// The implicit equations did not converge.
    Newton { component: usize },
    /// The error test failed.
    Error { component: usize },
    /// The end is good enough, dense output is not.
    Between { component: usize },
}

impl Failure {
    /// The error to report when no smaller step is possible.
    pub fn into_error(self, t: f64, h: f64) -> StepError {
        match self {
            Failure::Domain => StepError::Eval { t, h, fatal: false },
            Failure::Fatal => StepError::Eval { t, h, fatal: true },
            Failure::NonFinite { t, component } => StepError::NonFinite { t, component },
            Failure::Newton { component } => StepError::NewtonFailed { t, h, component },
            Failure::Error { component } | Failure::Between { component } => StepError::TooSmall { t, h, component },
        }
    }

    pub fn count(self, stats: &mut Stats) {
        match self {
            Failure::Error { .. } | Failure::Between { .. } => stats.error_test_failures += 1,
            Failure::Newton { .. } => stats.conv_failures += 1,
            _ => stats.eval_failures += 1,
        }
    }
}

impl From<EvalError> for Failure {
    fn from(e: EvalError) -> Failure {
        match e {
            EvalError::Domain => Failure::Domain,
            EvalError::Fatal => Failure::Fatal,
        }
    }
}

/// Evaluates f and sees to it that the result is finite.
pub(crate) fn eval_rhs(
    sys: &mut dyn OdeSystem,
    stats: &mut Stats,
    t: f64,
    x: &[f64],
    dx: &mut [f64],
) -> Result<(), Failure> {
    stats.rhs_evals += 1;
    sys.rhs(t, x, dx)?;
    // A sum is finite unless a term is not, or it overflows: look closer only then.
    if !dx.iter().sum::<f64>().is_finite()
        && let Some(component) = dx.iter().position(|v| !v.is_finite())
    {
        return Err(Failure::NonFinite { t, component });
    }
    Ok(())
}

/// W_i = rtol |x_i| + atol_i, stored as reciprocals.
pub(crate) fn inverse_weights(opts: &Options, x: &[f64], w: &mut [f64]) {
    for ((w, x), a) in w.iter_mut().zip(x).zip(&opts.atol) {
        *w = 1.0 / (opts.rtol * x.abs() + a).max(f64::MIN_POSITIVE);
    }
}

/// ‖v‖ = sqrt(1/n Σ (v_i / W_i)²).
pub(crate) fn wrms(v: &[f64], w: &[f64]) -> f64 {
    if v.is_empty() {
        return 0.0;
    }
    let s: f64 = v.iter().zip(w).map(|(v, w)| (v * w) * (v * w)).sum();
    (s / v.len() as f64).sqrt()
}

/// Increment of a finite difference as in DASSL, √u · max(|x|, |h x'|, W); if that would drown in the rounding of
/// terms as large as the largest component, up to a tenth of max(|x|, |h x'|, W).
pub(crate) fn increment(x: f64, hx: f64, w: f64, largest: f64) -> f64 {
    let scale = x.abs().max(hx.abs()).max(1.0 / w);
    (f64::EPSILON.sqrt() * scale).max((64.0 * f64::EPSILON * largest).min(0.1 * scale))
}

/// Component with the largest |v_i| / W_i; NaN counts as largest.
pub(crate) fn worst(v: &[f64], w: &[f64]) -> usize {
    let mut best = (0, -1.0);
    for (i, (v, w)) in v.iter().zip(w).enumerate() {
        let e = (v * w).abs();
        if e.is_nan() {
            return i;
        }
        if e > best.1 {
            best = (i, e);
        }
    }
    best.0
}

/// Fits a step to the distance left: stretched a little or halved rather than leaving a tiny rest.
/// The flag says that it lands on the stop time.
pub(crate) fn fit_step(h: f64, left: f64) -> (f64, bool) {
    if left <= 1.05 * h {
        (left, true)
    } else if left < 2.0 * h {
        (0.5 * left, false)
    } else {
        (h, false)
    }
}

/// Whether another, smaller attempt makes sense.
pub(crate) fn too_small(opts: &Options, t: f64, h: f64) -> bool {
    h < opts.h_min || t + h == t || !h.is_finite()
}

/// Smallest first step worth trying at t.
pub(crate) fn floor_step(opts: &Options, t: f64) -> f64 {
    (4.0 * f64::EPSILON * t.abs()).max(opts.h_min).max(f64::MIN_POSITIVE)
}

/// Cuts small violations of the bounds off; a larger one is the failing component.
pub(crate) fn keep_bounds(opts: &Options, x: &mut [f64], w: &[f64]) -> Result<(), Failure> {
    for (i, &(lo, hi)) in opts.bounds.iter().enumerate() {
        if x[i] < lo || x[i] > hi {
            let inside = x[i].clamp(lo, hi);
            if (x[i] - inside).abs() * w[i] > 1.0 {
                return Err(Failure::Error { component: i });
            }
            x[i] = inside;
        }
    }
    Ok(())
}

/// First step by the heuristic of Hairer, Nørsett and Wanner (II.4) for a method of this order. `x1` and `f1`
/// are workspace.
pub(crate) fn initial_step(
    sys: &mut dyn OdeSystem,
    opts: &Options,
    stats: &mut Stats,
    order: usize,
    t: f64,
    x: &[f64],
    dx: &[f64],
    w: &[f64],
    left: f64,
    x1: &mut [f64],
    f1: &mut [f64],
) -> Result<f64, StepError> {
    let limit = left.min(opts.h_max);
    if let Some(h) = opts.h_init {
        return Ok(h.min(limit));
    }
    let (d0, d1) = (wrms(x, w), wrms(dx, w));
    let mut h0 = if d0 < 1e-5 || d1 < 1e-5 { 1e-6 } else { 0.01 * d0 / d1 };
    h0 = h0.min(limit).max(floor_step(opts, t).min(limit));
    let d2 = loop {
        for i in 0..x.len() {
            x1[i] = x[i] + h0 * dx[i];
        }
        match eval_rhs(sys, stats, t + h0, x1, f1) {
            Ok(()) => {
                f1.iter_mut().zip(dx).for_each(|(f, d)| *f -= d);
                break wrms(f1, w) / h0;
            }
            Err(Failure::Fatal) => return Err(StepError::Eval { t, h: h0, fatal: true }),
            Err(e) => {
                stats.eval_failures += 1;
                h0 *= 0.1;
                if too_small(opts, t, h0) {
                    return Err(e.into_error(t, h0));
                }
            }
        }
    };
    let d = d1.max(d2);
    let h1 = if d <= 1e-15 { (1e-3 * limit.min(1e3)).max(h0) } else { (0.01 / d).powf(1.0 / (order as f64 + 1.0)) };
    Ok(h1.min(100.0 * h0).max(if d <= 1e-15 { h1 } else { 0.0 }).min(limit).max(floor_step(opts, t).min(limit)))
}

/// State shared between a one-step method and its driver.
pub(crate) struct Core {
    pub n: usize,
    pub opts: Options,
    pub stats: Stats,
    pub t: f64,
    pub x: Vec<f64>,
    /// f(t, x).
    pub dx: Vec<f64>,
    /// Candidate for the end of the step, with its derivative once [`Method::finish`] is through.
    pub x_new: Vec<f64>,
    pub dx_new: Vec<f64>,
    /// Error estimate.
    pub err: Vec<f64>,
    /// 1/W.
    pub w: Vec<f64>,
    pub poly: StepPolynomial,
    /// Dense output of stiff components of this step is not what the slopes at its ends, or its stages, say.
    pub doubt: bool,
    /// For a look at the dense output between the ends of a step.
    between: [Vec<f64>; 2],
    /// Steps accepted when the last restart came.
    restarted: usize,
}

impl Core {
    /// Whether the last restart is only some steps ago: what grows may not have come out of the tolerance yet.
    pub fn young(&self) -> bool {
        self.stats.steps < self.restarted + 30 && self.opts.fixed_step.is_none()
    }

    /// Norm of the error estimate by the larger of the weights at both ends.
    pub fn error_norm(&self) -> f64 {
        let mut s = 0.0;
        for i in 0..self.n {
            let m = self.x[i].abs().max(self.x_new[i].abs());
            let e = self.err[i] / (self.opts.rtol * m + self.opts.atol[i]).max(f64::MIN_POSITIVE);
            s += e * e;
        }
        (s / self.n as f64).sqrt()
    }
}

/// Where this step and the one before began, for dense output that looks back.
pub(crate) struct Trail {
    behind: Mark,
    present: Mark,
}

/// A beginning of a step, if there is one.
struct Mark {
    t: Option<f64>,
    x: Vec<f64>,
}

impl Trail {
    pub fn new(n: usize) -> Self {
        let mark = || Mark { t: None, x: vec![0.0; n] };
        Trail { behind: mark(), present: mark() }
    }

    /// After a restart nothing is behind.
    pub fn forget(&mut self) {
        (self.behind.t, self.present.t) = (None, None);
    }

    /// Raises the Hermite cubic in `core.poly` of the step [core.t, t_new] by one order, if the step before is of much the
    /// same size. A step taken again has the same one behind it.
    pub fn raise(&mut self, core: &mut Core, t_new: f64) {
        self.mark(core);
        if let Some((before, r)) = self.behind(core, t_new) {
            let w = &core.w;
            core.poly.raise(before, r, |i| FAR / w[i]);
        }
    }

    /// Beginning of the step before, in lengths of this one before it, if the two are of much the same size.
    pub fn behind(&self, core: &Core, t_new: f64) -> Option<(&[f64], f64)> {
        let r = (core.t - self.behind.t?) / (t_new - core.t);
        (0.3..=4.0).contains(&r).then_some((&self.behind.x, r))
    }

    fn mark(&mut self, core: &Core) {
        if self.present.t != Some(core.t) {
            std::mem::swap(&mut self.behind, &mut self.present);
            self.present.t = Some(core.t);
            self.present.x.copy_from_slice(&core.x);
        }
    }
}

/// How the next step size follows from the error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Controller {
    /// Proportional–integral with this β (Hairer and Wanner IV.2).
    Pi(f64),
    /// Predictive (Gustafsson 1994), and a step is kept when it would grow by less than a fifth.
    Predictive,
}

/// A one-step method.
pub(crate) trait Method {
    fn name(&self) -> &'static str;
    fn order(&self) -> usize;
    /// k with error estimate = O(h^k).
    fn error_power(&self) -> f64;
    fn controller(&self) -> Controller;
    /// Highest degree of the dense output.
    fn degree(&self) -> usize;
    /// A restart at (core.t, core.x); core.dx is set.
    fn start(&mut self, _sys: &mut dyn OdeSystem, _core: &mut Core, _kind: Restart) {}
    /// Tries a step, leaving `core.x_new` and `core.err`; the weighted error norm is returned.
    fn attempt(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64) -> Result<f64, Failure>;
    /// The error test passed: set `core.dx_new` and `core.poly`.
    fn finish(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64, t_new: f64) -> Result<(), Failure>;
    /// v ← (σI − J)⁻¹ v with the matrix of the last attempt, σ of the size of 1/h: what a defect v has put stiff components off by.
    fn settle(&mut self, _v: &mut [f64]) {}
    /// Limit on growth after the last attempt (many Newton iterations ask for caution).
    fn safety(&self) -> f64 {
        0.9
    }
    /// Options this method cannot do without.
    fn adjust(&self, _opts: &mut Options) {}
    /// An explicit formula is unstable where h|λ| exceeds this for a damped mode λ < 0; `None`: never.
    fn stability(&self) -> Option<f64> {
        None
    }
    /// Called when an attempt is rejected for whatever reason.
    fn rejected(&mut self) {}
}

/// Drives a [`Method`] as an [`Integrator`].
pub(crate) struct Driver<M> {
    pub core: Core,
    pub method: M,
    t_prev: f64,
    h_next: f64,
    fresh: bool,
    err_old: f64,
    h_old: f64,
    attempts: usize,
    /// Fixed-step grid: steps k from `grid_t` have size exactly h, so t does not drift.
    grid: (f64, u64),
    growth: Growth,
}

/// Steps of a fixed size that grow although the system would damp them.
struct Growth {
    /// How many in a row, and by how much together.
    steps: usize,
    factor: f64,
    /// The last step.
    last: Vec<f64>,
    /// The component that moves most and the largest stable step, once there is no doubt.
    found: Option<(usize, f64)>,
}

impl Growth {
    fn forget(&mut self) {
        (self.steps, self.factor, self.found) = (0, 1.0, None);
        self.last.fill(0.0);
    }

    /// Looks at the step from (x, f) to (x_new, f_new): the motion Δx is that of a mode λ ≈ Δf·Δx / Δx·Δx.
    fn see(&mut self, c: &Core, h: f64, limit: f64) {
        let (mut size, mut before, mut product, mut most) = (0.0, 0.0, 0.0, (0, 0.0));
        for i in 0..c.n {
            let (dx, df) = (c.w[i] * (c.x_new[i] - c.x[i]), c.w[i] * (c.dx_new[i] - c.dx[i]));
            size += dx * dx;
            product += dx * df;
            before += (c.w[i] * self.last[i]).powi(2);
            self.last[i] = c.x_new[i] - c.x[i];
            if dx.abs() > most.1 {
                most = (i, dx.abs());
            }
        }
        let lambda = product / size;
        if size > c.n as f64 && size > 1.002 * before && before > 0.0 && -h * lambda > limit {
            self.steps += 1;
            self.factor *= (size / before).sqrt();
            if self.steps >= 12 && self.factor > 1e3 {
                self.found = Some((most.0, -limit / lambda));
            }
        } else {
            (self.steps, self.factor) = (0, 1.0);
        }
    }
}

impl<M: Method> Driver<M> {
    pub fn new(n: usize, mut opts: Options, method: M) -> Self {
        if n > 0 {
            method.adjust(&mut opts);
        }
        let v = || vec![0.0; n];
        let core = Core {
            n,
            opts,
            stats: Stats::default(),
            t: 0.0,
            x: v(),
            dx: v(),
            x_new: v(),
            dx_new: v(),
            err: v(),
            w: v(),
            poly: StepPolynomial::new(n, method.degree()),
            doubt: false,
            between: [v(), v()],
            restarted: 0,
        };
        Driver {
            core,
            method,
            t_prev: 0.0,
            h_next: 0.0,
            fresh: true,
            err_old: 1e-4,
            h_old: 0.0,
            attempts: 0,
            grid: (0.0, 0),
            growth: Growth { steps: 0, factor: 1.0, last: v(), found: None },
        }
    }

    pub fn restart(&mut self, sys: &mut dyn OdeSystem, t: f64, x: &[f64], kind: Restart) -> Result<(), StepError> {
        let c = &mut self.core;
        c.stats.restarts += 1;
        c.restarted = c.stats.steps;
        let cold = kind == Restart::Cold || self.h_next == 0.0;
        // After a jump the old step tells little about the transient to come: the heuristic costs one evaluation.
        self.fresh = cold || kind == Restart::Warm;
        let same = kind == Restart::Hot && t == c.t && x == c.x;
        c.t = t;
        self.t_prev = t;
        self.grid = (t, 0);
        self.growth.forget();
        c.x.copy_from_slice(x);
        if !same {
            eval_rhs(sys, &mut c.stats, t, &c.x, &mut c.dx).map_err(|e| e.into_error(t, 0.0))?;
        }
        if self.fresh {
            (self.err_old, self.h_old) = (1e-4, 0.0);
        }
        c.poly.set_constant(t, &c.x);
        let kind = if cold { Restart::Cold } else { kind };
        self.method.start(sys, c, kind);
        Ok(())
    }

    pub fn step(&mut self, sys: &mut dyn OdeSystem, tstop: f64) -> Result<StepOutcome, StepError> {
        let (t, c) = (self.core.t, &mut self.core);
        let left = tstop - t;
        if left <= 0.0 {
            return Ok(StepOutcome::ReachedStop);
        }
        // Nothing happens in a few roundings of the time, and no difference quotient is a number there.
        if left <= 8.0 * f64::EPSILON * t.abs() {
            self.t_prev = t;
            c.t = tstop;
            c.poly.set_constant(tstop, &c.x);
            return Ok(StepOutcome::ReachedStop);
        }
        if let (Some((component, limit)), Some(h)) = (self.growth.found, c.opts.fixed_step) {
            return Err(StepError::Unstable { t, h, component, limit });
        }
        if c.n == 0 {
            let h = c.opts.fixed_step.unwrap_or(c.opts.h_max);
            let (_, lands) = fit_step(h, left);
            self.t_prev = t;
            c.t = if lands { tstop } else { t + h };
            c.poly.begin(t, c.t, 0);
            c.stats.steps += 1;
            (c.stats.last_h, c.stats.last_order) = (c.t - t, self.method.order());
            return Ok(if lands { StepOutcome::ReachedStop } else { StepOutcome::Step });
        }
        inverse_weights(&c.opts, &c.x, &mut c.w);
        let fixed = c.opts.fixed_step;
        if self.fresh && fixed.is_none() {
            let p = self.method.order();
            self.h_next =
                initial_step(sys, &c.opts, &mut c.stats, p, t, &c.x, &c.dx, &c.w, left, &mut c.x_new, &mut c.dx_new)?;
        }
        self.fresh = false;
        let mut h = fixed.unwrap_or(self.h_next.min(c.opts.h_max).max(floor_step(&c.opts, t)));
        let wish = h;
        let (mut rejected, mut layers) = (false, LAYERS);
        loop {
            if self.attempts >= c.opts.max_steps {
                return Err(StepError::TooMuchWork { t });
            }
            self.attempts += 1;
            let (lands, t_new);
            if let (Some(f), false) = (fixed, rejected) {
                let on_grid = self.grid.0 + (self.grid.1 + 1) as f64 * f;
                lands = on_grid >= tstop - 1e-9 * f;
                (t_new, h) = if lands { (tstop, left) } else { (on_grid, f) };
            } else {
                (h, lands) = fit_step(h, left);
                t_new = if lands { tstop } else { t + h };
            }
            let outcome = try_step(&mut self.method, c, sys, h, t_new, fixed.is_none())
                .and_then(|err| seen_between(&mut self.method, c, sys, t_new, layers).map(|()| err));
            match outcome {
                Ok(err) => {
                    self.accept(h, t_new, err, wish, rejected, lands);
                    return Ok(if lands { StepOutcome::ReachedStop } else { StepOutcome::Step });
                }
                Err((failure, shrink)) => {
                    failure.count(&mut c.stats);
                    layers -= usize::from(matches!(failure, Failure::Between { .. }));
                    self.method.rejected();
                    h *= shrink;
                    if failure == Failure::Fatal || too_small(&c.opts, t, h) {
                        return Err(failure.into_error(t, h));
                    }
                    rejected = true;
                }
            }
        }
    }

    /// See [`super::Integrator::retake`].
    pub fn retake(&mut self, sys: &mut dyn OdeSystem, t: f64) -> bool {
        let (begin, end) = (self.t_prev, self.core.t);
        if !(begin < t && t < end) || self.core.n == 0 || self.core.opts.fixed_step.is_some() {
            return false;
        }
        let c = &mut self.core;
        // After a step its beginning lies where the next one's candidate will be.
        let last = (c.x.clone(), c.dx.clone(), c.x_new.clone(), c.dx_new.clone(), c.poly.clone());
        c.t = begin;
        std::mem::swap(&mut c.x, &mut c.x_new);
        std::mem::swap(&mut c.dx, &mut c.dx_new);
        inverse_weights(&c.opts, &c.x, &mut c.w);
        let (mut h, mut t, wish) = (t - begin, t, self.h_next);
        for attempt in 0..RETAKE_ATTEMPTS {
            match try_step(&mut self.method, c, sys, h, t, true) {
                Ok(err) => {
                    self.accept(h, t, err, wish, attempt > 0, true);
                    return true;
                }
                Err((failure, shrink)) => {
                    failure.count(&mut c.stats);
                    self.method.rejected();
                    // The longer step has passed the test by chance: a shorter one is better all the same.
                    if !matches!(failure, Failure::Error { .. } | Failure::Between { .. }) {
                        break;
                    }
                    h *= shrink;
                    t = begin + h;
                }
            }
        }
        c.t = end;
        (c.x, c.dx, c.x_new, c.dx_new, c.poly) = last;
        inverse_weights(&c.opts, &c.x, &mut c.w);
        false
    }

    /// See [`super::Integrator::grow_from_here`].
    pub fn grow_from_here(&mut self) {
        self.h_next = self.h_next.min(GROWTH * self.h_old);
    }

    fn accept(&mut self, h: f64, t_new: f64, err: f64, wish: f64, rejected: bool, lands: bool) {
        let c = &mut self.core;
        let (k, safe) = (self.method.error_power(), self.method.safety());
        let e = err.max(1e-10);
        let mut factor = match self.method.controller() {
            Controller::Pi(beta) => {
                let f = safe * e.powf(-(1.0 / k - 0.75 * beta)) * self.err_old.powf(beta);
                f.clamp(0.2, 10.0)
            }
            Controller::Predictive => {
                let mut f = safe * e.powf(-1.0 / k);
                if self.h_old > 0.0 {
                    f = f.min(safe * (h / self.h_old) * (e * e / self.err_old).powf(-1.0 / k));
                }
                f.clamp(0.2, GROWTH)
            }
        };
        if rejected {
            factor = factor.min(1.0);
        }
        if self.method.controller() == Controller::Predictive && (1.0..1.2).contains(&factor) {
            factor = 1.0;
        }
        self.h_next = h * factor;
        if !rejected && h < wish {
            self.h_next = self.h_next.max(wish); // cut short for the stop time only
        }
        self.err_old = e.max(1e-4);
        self.h_old = h;
        if let (Some(limit), Some(_)) = (self.method.stability(), c.opts.fixed_step) {
            self.growth.see(c, h, limit);
        }
        std::mem::swap(&mut c.x, &mut c.x_new);
        std::mem::swap(&mut c.dx, &mut c.dx_new);
        self.t_prev = c.t;
        c.t = t_new;
        self.grid = if lands || rejected { (t_new, 0) } else { (self.grid.0, self.grid.1 + 1) };
        c.stats.steps += 1;
        (c.stats.last_h, c.stats.last_order) = (h, self.method.order());
    }

    pub fn t_prev(&self) -> f64 {
        self.t_prev
    }

    pub fn set_options(&mut self, mut opts: Options) {
        assert_eq!(opts.atol.len(), self.core.n);
        self.method.adjust(&mut opts);
        self.core.opts = opts;
        self.grid = (self.core.t, 0);
    }

    pub fn interpolate(&self, t: f64, x: &mut [f64]) {
        if t == self.core.t { x.copy_from_slice(&self.core.x) } else { self.core.poly.eval(t, x) }
    }
}

/// One attempt from error test to derivative at the end; a failure comes with the factor to shrink h by.
fn try_step<M: Method>(
    method: &mut M,
    c: &mut Core,
    sys: &mut dyn OdeSystem,
    h: f64,
    t_new: f64,
    test: bool,
) -> Result<f64, (Failure, f64)> {
    let err =
        method.attempt(sys, c, h).map_err(|f| (f, if matches!(f, Failure::Newton { .. }) { 0.5 } else { 0.25 }))?;
    if !err.is_finite() || (test && err > 1.0) {
        let shrink = if err.is_finite() { (0.9 * err.powf(-1.0 / method.error_power())).clamp(0.1, 0.9) } else { 0.1 };
        return Err((Failure::Error { component: worst(&c.err, &c.w) }, shrink));
    }
    keep_bounds(&c.opts, &mut c.x_new, &c.w).map_err(|f| (f, 0.5))?;
    c.doubt = false;
    method.finish(sys, c, h, t_new).map_err(|f| (f, 0.25))?;
    Ok(err)
}

/// Whether dense output agrees with the equations soon after a restart, where the method doubts it. A stiff component that an event has put
/// beside its course comes back within its own time; an implicit step goes over that and ends where it should, but its polynomial begins
/// beside the course and swings. Such a step is taken again, a tenth as long, up to `layers` times.
fn seen_between<M: Method>(
    method: &mut M,
    c: &mut Core,
    sys: &mut dyn OdeSystem,
    t_new: f64,
    layers: usize,
) -> Result<(), (Failure, f64)> {
    if layers == 0 || !c.doubt || !c.young() {
        return Ok(());
    }
    let [x, f] = &mut c.between;
    for s in [0.03, 0.4] {
        let t = c.t + s * (t_new - c.t);
        c.poly.eval(t, x);
        // What cannot be evaluated there says nothing.
        if eval_rhs(sys, &mut c.stats, t, x, f).is_err() {
            continue;
        }
        c.poly.eval_derivative(t, x);
        x.iter_mut().zip(f.iter()).for_each(|(d, f)| *d = f - *d);
        method.settle(x);
        if x.iter().zip(&c.w).any(|(d, w)| d.abs() * w > FAR) {
            return Err((Failure::Between { component: worst(x, &c.w) }, 0.1));
        }
    }
    Ok(())
}

/// Implements [`super::Integrator`] for a public wrapper around a [`Driver`] in field 0.
macro_rules! integrator_by_driver {
    ($wrapper:ty) => {
        impl super::Integrator for $wrapper {
            fn name(&self) -> &'static str {
                super::control::Method::name(&self.0.method)
            }
            fn restart(
                &mut self,
                sys: &mut dyn super::OdeSystem,
                t: f64,
                x: &[f64],
                kind: super::Restart,
            ) -> Result<(), super::StepError> {
                self.0.restart(sys, t, x, kind)
            }
            fn step(
                &mut self,
                sys: &mut dyn super::OdeSystem,
                tstop: f64,
            ) -> Result<super::StepOutcome, super::StepError> {
                self.0.step(sys, tstop)
            }
            fn retake(&mut self, sys: &mut dyn super::OdeSystem, t: f64) -> bool {
                self.0.retake(sys, t)
            }
            fn one_step(&self) -> bool {
                true
            }
            fn grow_from_here(&mut self) {
                self.0.grow_from_here();
            }
            fn retakes(&self) -> bool {
                true
            }
            fn t(&self) -> f64 {
                self.0.core.t
            }
            fn t_prev(&self) -> f64 {
                self.0.t_prev()
            }
            fn x(&self) -> &[f64] {
                &self.0.core.x
            }
            fn local_error(&self, i: usize) -> Option<f64> {
                let core = &self.0.core;
                core.opts.fixed_step.is_none().then(|| core.err[i].abs())
            }
            fn interpolate(&self, t: f64, x: &mut [f64]) {
                self.0.interpolate(t, x)
            }
            fn interpolate_derivative(&self, t: f64, dx: &mut [f64]) {
                self.0.core.poly.eval_derivative(t, dx)
            }
            fn polynomial(&self, i: usize, coeffs: &mut Vec<f64>) {
                self.0.core.poly.component(i, coeffs)
            }
            fn stats(&self) -> &super::Stats {
                &self.0.core.stats
            }
            fn options(&self) -> &super::Options {
                &self.0.core.opts
            }
            fn set_options(&mut self, opts: super::Options) {
                self.0.set_options(opts)
            }
            fn set_max_step(&mut self, h_max: f64) {
                self.0.core.opts.h_max = h_max;
            }
        }
    };
}
pub(crate) use integrator_by_driver;
