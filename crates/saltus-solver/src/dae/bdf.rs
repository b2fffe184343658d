//! Variable-order BDF in fixed-leading-coefficient form (Brenan, Campbell and Petzold 1996, ch. 5; IDA).
//!
//! The history is φ_j = ψ_1 … ψ_j [x_n, …, x_{n−j}], modified divided differences over ψ_i = t_n − t_{n−i}. A step
//! predicts x and x' from it, corrects both by x = x⁰ + e, x' = x'⁰ + cj e with cj = −α_s/h, and passes if
//! C ‖e‖ <= 1. The leading coefficient α_s is that of constant steps, so the matrix ∂F/∂x + cj ∂F/∂x' changes with
//! h and the order only.

use super::linearize::{Linearized, eval_residual};
use super::{DaeOptions, DaeSystem};
use crate::interp::substitute_affine;
use crate::ode::control::{
    Failure, RETAKE_ATTEMPTS, fit_step, floor_step, inverse_weights, keep_bounds, too_small, worst, wrms,
};
use crate::ode::iteration::{NOISE, UNSEEN};
use crate::ode::{Restart, Stats, StepError, StepOutcome};

const MAX_ORDER: usize = 5;
const ROWS: usize = MAX_ORDER + 2;
const NEWTON_MAX: usize = 4;
const NEWTON_TOL: f64 = 0.33;
const DIVERGENCE: f64 = 0.9;
/// What is left of that where something depends on the ends of steps by a large factor.
const SHARP: f64 = 1e-4;
const SHARP_MAX: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Lower,
    Keep,
    Raise,
}

/// The history as a step began.
#[derive(Clone, Default)]
struct Past {
    t: f64,
    phi: Vec<Vec<f64>>,
    psi: [f64; ROWS],
    alpha: [f64; ROWS],
    beta: [f64; ROWS],
    sigma: [f64; ROWS],
    gamma: [f64; ROWS],
    k: usize,
    h: f64,
    k_used: usize,
    h_used: f64,
    ns: usize,
    rising: bool,
    nst: usize,
    cj: f64,
    cj_last: f64,
}

/// BDF for F(t, x, x') = 0.
pub struct DaeBdf {
    n: usize,
    opts: DaeOptions,
    stats: Stats,
    t: f64,
    t_prev: f64,
    x: Vec<f64>,
    xp: Vec<f64>,
    phi: Vec<Vec<f64>>,
    psi: [f64; ROWS],
    alpha: [f64; ROWS],
    beta: [f64; ROWS],
    sigma: [f64; ROWS],
    gamma: [f64; ROWS],
    /// Order and step of the next, and of the last step.
    k: usize,
    h: f64,
    k_used: usize,
    h_used: f64,
    /// Steps taken at constant order and size, plus one.
    ns: usize,
    /// Order and step still rise at every step.
    rising: bool,
    nst: usize,
    cj: f64,
    cj_last: f64,
    cj_factored: f64,
    ck: f64,
    /// Convergence factor ρ/(1 − ρ) of Newton.
    ss: f64,
    pred: Vec<f64>,
    pred_p: Vec<f64>,
    ee: Vec<f64>,
    delta: Vec<f64>,
    work: Vec<f64>,
    /// 1/W, and the same with zeros where the error test does not look.
    w: Vec<f64>,
    w_test: Vec<f64>,
    /// Makes of a mean over all unknowns one over those whose errors are tested.
    share: f64,
    points: Vec<Vec<f64>>,
    lin: Linearized,
    have_matrix: bool,
    /// The step that last showed how fast the iteration converges, and the first correction of the last step.
    nst_rate: usize,
    first_norm: f64,
    fresh: bool,
    attempts: usize,
    /// The beginning of the last step.
    past: Past,
    /// Iterations leave this part of the tolerance.
    newton_tol: f64,
}

impl DaeBdf {
    /// For n unknowns.
    pub fn new(n: usize, opts: DaeOptions) -> Self {
        assert_eq!(opts.common.atol.len(), n, "one absolute tolerance per unknown");
        let v = || vec![0.0; n];
        DaeBdf {
            n,
            opts,
            stats: Stats::default(),
            t: 0.0,
            t_prev: 0.0,
            x: v(),
            xp: v(),
            phi: vec![v(); ROWS],
            psi: [0.0; ROWS],
            alpha: [0.0; ROWS],
            beta: [0.0; ROWS],
            sigma: [0.0; ROWS],
            gamma: [0.0; ROWS],
            k: 1,
            h: 0.0,
            k_used: 0,
            h_used: 0.0,
            ns: 0,
            rising: true,
            nst: 0,
            cj: 0.0,
            cj_last: 0.0,
            cj_factored: 0.0,
            ck: 0.0,
            ss: 20.0,
            pred: v(),
            pred_p: v(),
            ee: v(),
            delta: v(),
            work: v(),
            w: v(),
            w_test: v(),
            share: 1.0,
            points: Vec::new(),
            lin: Linearized::new(n),
            have_matrix: false,
            nst_rate: 0,
            first_norm: 0.0,
            fresh: true,
            attempts: 0,
            past: Past { t: f64::NAN, ..Past::default() },
            newton_tol: NEWTON_TOL,
        }
    }

    /// The history as it is.
    fn keep(&self, into: &mut Past) {
        into.phi.resize_with(ROWS, Vec::new);
        let used = (self.k.max(self.k_used) + 2).min(ROWS);
        into.phi.iter_mut().zip(&self.phi[..used]).for_each(|(p, q)| p.clone_from(q));
        (into.psi, into.alpha, into.beta, into.sigma, into.gamma) =
            (self.psi, self.alpha, self.beta, self.sigma, self.gamma);
        (into.t, into.k, into.h, into.k_used, into.h_used) = (self.t, self.k, self.h, self.k_used, self.h_used);
        (into.ns, into.rising, into.nst) = (self.ns, self.rising, self.nst);
        (into.cj, into.cj_last) = (self.cj, self.cj_last);
    }

    fn go_back(&mut self, to: &Past) {
        let used = (to.k.max(to.k_used) + 2).min(ROWS);
        self.phi[..used].iter_mut().zip(&to.phi).for_each(|(p, q)| p.clone_from(q));
        (self.psi, self.alpha, self.beta, self.sigma, self.gamma) = (to.psi, to.alpha, to.beta, to.sigma, to.gamma);
        (self.k, self.h, self.k_used, self.h_used) = (to.k, to.h, to.k_used, to.h_used);
        (self.ns, self.rising, self.nst) = (to.ns, to.rising, to.nst);
        (self.cj, self.cj_last) = (to.cj, to.cj_last);
    }

    /// Takes the last step again to end at `t`, or sooner if that fails the error test; false if no step is found.
    pub fn retake(&mut self, sys: &mut dyn DaeSystem, t: f64) -> bool {
        let (begin, end) = (self.t_prev, self.t);
        let fixed = self.opts.common.fixed_step.is_some();
        if !(begin < t && t < end) || self.n == 0 || fixed || self.past.t != begin {
            return false;
        }
        let mut last = Past::default();
        self.keep(&mut last);
        let (x, xp, mut t) = (self.x.clone(), self.xp.clone(), t);
        let past = std::mem::take(&mut self.past);
        let newton_tol = std::mem::replace(&mut self.newton_tol, SHARP * NEWTON_TOL);
        let mut done = false;
        for _ in 0..RETAKE_ATTEMPTS {
            self.go_back(&past);
            self.set_weights(sys);
            self.scale_step(t - begin);
            match self.attempt(sys, t) {
                Ok(e) => {
                    self.complete_step(&e);
                    self.x.copy_from_slice(&self.phi[0]);
                    self.t = t;
                    (self.stats.last_h, self.stats.last_order) = (t - begin, self.k_used);
                    done = true;
                    break;
                }
                Err(failure) => {
                    failure.count(&mut self.stats);
                    if !matches!(failure, Failure::Error { .. }) {
                        break;
                    }
                    t = begin + 0.5 * (t - begin);
                }
            }
        }
        (self.past, self.newton_tol) = (past, newton_tol);
        if !done {
            self.go_back(&last);
            self.set_weights(sys);
            (self.x, self.xp) = (x, xp);
        }
        done
    }

    /// Something depends on the ends of steps by a large factor, or no longer does.
    pub fn sharpen(&mut self, on: bool) {
        self.newton_tol = if on { SHARP * NEWTON_TOL } else { NEWTON_TOL };
    }

    /// One attempt from prediction to error test, with the step that has been set.
    fn attempt(&mut self, sys: &mut dyn DaeSystem, t_new: f64) -> Result<Estimates, Failure> {
        self.set_coefficients();
        self.predict();
        self.newton(sys, t_new)?;
        let e = self.estimate();
        if e.norm.is_nan() || (self.ck * e.norm > 1.0 && self.opts.common.fixed_step.is_none()) {
            return Err(Failure::Error { component: worst(&self.ee, &self.w_test) });
        }
        if !self.opts.common.bounds.is_empty() {
            keep_bounds(&self.opts.common, &mut self.x, &self.w)?;
            for i in 0..self.n {
                self.ee[i] = self.x[i] - self.pred[i];
            }
        }
        Ok(e)
    }

    fn max_order(&self) -> usize {
        self.opts.common.max_order.clamp(1, MAX_ORDER)
    }

    /// Starts, or starts again, from consistent (t, x, x'). Hot keeps the history and t may
    /// lie inside the last step.
    pub fn restart(
        &mut self,
        sys: &mut dyn DaeSystem,
        t: f64,
        x: &[f64],
        xp: &[f64],
        kind: Restart,
    ) -> Result<(), StepError> {
        self.stats.restarts += 1;
        self.past.t = f64::NAN;
        let new_pattern = self.lin.set_up(sys, &self.opts.common);
        if new_pattern || kind != Restart::Hot {
            self.have_matrix = false;
        }
        let usable = !new_pattern && self.nst > 0 && self.n > 0;
        if kind == Restart::Hot && usable && t >= self.t_prev && t <= self.t {
            if t != self.t {
                self.rebase(t);
            }
            self.phi[0].copy_from_slice(x);
            self.x.copy_from_slice(x);
            self.xp.copy_from_slice(xp);
            (self.t, self.t_prev) = (t, t);
            return Ok(());
        }
        self.x.copy_from_slice(x);
        self.xp.copy_from_slice(xp);
        (self.t, self.t_prev) = (t, t);
        (self.k, self.k_used, self.nst, self.ns, self.rising, self.fresh) = (1, 0, 0, 0, true, true);
        (self.nst_rate, self.first_norm) = (0, 0.0);
        if let Some(component) = x.iter().chain(xp).position(|v| !v.is_finite()) {
            return Err(StepError::NonFinite { t, component: component % self.n });
        }
        Ok(())
    }

    /// Divided differences about an earlier time within the last step.
    fn rebase(&mut self, t: f64) {
        let (k, back) = (self.k_used, self.t - t);
        self.points.resize(ROWS, vec![0.0; self.n]);
        // Values of the polynomial at t and at the k older mesh points; the next one back where t hits a mesh point.
        let skip = usize::from(self.psi[0] - back <= 1e-9 * self.psi[0]);
        let k_new = (k - skip.min(k - 1)).max(1);
        let mut nodes = [0.0; ROWS];
        for j in 0..=k_new {
            nodes[j] = if j == 0 { t } else { self.t - self.psi[j - 1 + skip] };
            if j > 0 && j + skip > k {
                nodes[j] = nodes[j - 1] - self.h_used;
            }
            let mut p = std::mem::take(&mut self.points[j]);
            self.evaluate(nodes[j], &mut p);
            self.points[j] = p;
        }
        for level in 1..=k_new {
            for j in (level..=k_new).rev() {
                let (lo, hi) = self.points.split_at_mut(j);
                let d = 1.0 / (nodes[j - level] - nodes[j]);
                hi[0].iter_mut().zip(&lo[j - 1]).for_each(|(b, a)| *b = (a - *b) * d);
            }
        }
        let mut product = 1.0;
        for j in 0..=k_new {
            let p = product;
            self.phi[j].iter_mut().zip(&self.points[j]).for_each(|(phi, d)| *phi = p * d);
            if j < k_new {
                self.psi[j] = t - nodes[j + 1];
                product *= self.psi[j];
            }
        }
        self.phi[k_new + 1].fill(0.0);
        self.psi[k_new] = self.psi[k_new - 1] + self.h_used;
        (self.k_used, self.ns) = (k_new, 0);
        self.k = self.k.min(k_new);
        self.rising = false;
    }

    /// Values of the polynomial of the last step.
    fn evaluate(&self, t: f64, x: &mut [f64]) {
        let delta = t - self.t;
        x.copy_from_slice(&self.phi[0][..x.len()]);
        let (mut c, mut factor) = (1.0, delta / self.psi[0]);
        for j in 1..=self.k_used {
            c *= factor;
            factor = (delta + self.psi[j - 1]) / self.psi[j];
            x.iter_mut().zip(&self.phi[j]).for_each(|(x, p)| *x += c * p);
        }
    }

    // --- One step ----------------------------------------------------------------------------------------

    fn set_coefficients(&mut self) {
        let (k, h) = (self.k, self.h);
        if h != self.h_used || k != self.k_used {
            self.ns = 0;
        }
        self.ns = (self.ns + 1).min(self.k_used + 2);
        if k + 1 >= self.ns {
            (self.beta[0], self.alpha[0], self.gamma[0], self.sigma[0]) = (1.0, 1.0, 0.0, 1.0);
            let mut temp1 = h;
            for i in 1..=k {
                let temp2 = self.psi[i - 1];
                self.psi[i - 1] = temp1;
                self.beta[i] = self.beta[i - 1] * self.psi[i - 1] / temp2;
                temp1 = temp2 + h;
                self.alpha[i] = h / temp1;
                self.sigma[i] = i as f64 * self.sigma[i - 1] * self.alpha[i];
                self.gamma[i] = self.gamma[i - 1] + self.alpha[i - 1] / h;
            }
            self.psi[k] = temp1;
        }
        let alphas: f64 = -(1..=k).map(|i| 1.0 / i as f64).sum::<f64>();
        let alpha0: f64 = -self.alpha[..k].iter().sum::<f64>();
        self.cj_last = self.cj;
        self.cj = -alphas / h;
        self.ck = (self.alpha[k] + alphas - alpha0).abs().max(self.alpha[k]);
        for i in self.ns..=k {
            let b = self.beta[i];
            self.phi[i].iter_mut().for_each(|p| *p *= b);
        }
    }

    /// Takes back what [`Self::set_coefficients`] did.
    fn restore(&mut self) {
        for j in 1..=self.k {
            self.psi[j - 1] = self.psi[j] - self.h;
        }
        for j in self.ns..=self.k {
            let b = 1.0 / self.beta[j];
            self.phi[j].iter_mut().for_each(|p| *p *= b);
        }
    }

    fn predict(&mut self) {
        self.pred.copy_from_slice(&self.phi[0]);
        self.pred_p.fill(0.0);
        for j in 1..=self.k {
            let g = self.gamma[j];
            for i in 0..self.n {
                self.pred[i] += self.phi[j][i];
                self.pred_p[i] += g * self.phi[j][i];
            }
        }
    }

    fn newton(&mut self, sys: &mut dyn DaeSystem, t_new: f64) -> Result<(), Failure> {
        let ratio = self.cj / self.cj_factored;
        let mut refresh = !self.have_matrix || !(0.6..=1.0 / 0.6).contains(&ratio);
        if self.cj != self.cj_last {
            self.ss = 100.0;
        }
        loop {
            self.x.copy_from_slice(&self.pred);
            self.xp.copy_from_slice(&self.pred_p);
            eval_residual(sys, &mut self.stats, t_new, &self.x, &self.xp, &mut self.delta)?;
            if refresh {
                self.have_matrix = false;
                let combination = (1.0, self.cj);
                self.lin.eval(
                    sys,
                    &mut self.stats,
                    t_new,
                    &self.x,
                    &self.xp,
                    &self.delta,
                    combination,
                    self.h,
                    &self.w,
                )?;
                self.lin.factor(sys, self.cj, &self.w, &mut self.stats)?;
                (self.cj_factored, self.ss, self.have_matrix) = (self.cj, 20.0, true);
            }
            match self.newton_iterate(sys, t_new, refresh) {
                Ok(()) => return Ok(()),
                Err(Failure::Fatal) => return Err(Failure::Fatal),
                Err(e) if refresh => return Err(e),
                Err(_) => refresh = true,
            }
        }
    }

    fn newton_iterate(&mut self, sys: &mut dyn DaeSystem, t_new: f64, refreshed: bool) -> Result<(), Failure> {
        // As in `ode::multistep`: how fast the corrections shrink is looked at now and then.
        let mut unseen = !refreshed && self.nst >= self.nst_rate + UNSEEN;
        let ratio = self.cj / self.cj_factored;
        let scale = if ratio == 1.0 { -1.0 } else { -2.0 / (1.0 + ratio) };
        self.ee.fill(0.0);
        let mut first = 0.0;
        let most = if self.newton_tol < NEWTON_TOL { SHARP_MAX } else { NEWTON_MAX };
        for m in 0..most {
            self.stats.newton_iters += 1;
            self.lin.solve(&mut self.delta);
            for i in 0..self.n {
                self.delta[i] *= scale;
                self.ee[i] += self.delta[i];
                self.x[i] = self.pred[i] + self.ee[i];
                self.xp[i] = self.pred_p[i] + self.cj * self.ee[i];
            }
            let norm = self.share * wrms(&self.delta, &self.w);
            if !norm.is_finite() {
                break;
            }
            if m == 0 {
                first = norm;
                // Far smaller than before, with an old matrix: the matrix may be far too large.
                unseen |= !refreshed && norm < 0.1 * self.first_norm;
                self.first_norm = norm;
                if norm <= 1e-4 * self.newton_tol && (!unseen || norm <= NOISE) {
                    return Ok(());
                }
            } else {
                self.nst_rate = self.nst;
                let rate = (norm / first).powf(1.0 / m as f64);
                if rate > DIVERGENCE || (unseen && rate > 0.9 && norm > NOISE) {
                    break;
                }
                self.ss = rate / (1.0 - rate);
            }
            if self.ss * norm <= self.newton_tol && (m > 0 || !unseen) {
                return Ok(());
            }
            if m + 1 < most {
                eval_residual(sys, &mut self.stats, t_new, &self.x, &self.xp, &mut self.delta)?;
            }
        }
        Err(Failure::Newton { component: worst(&self.delta, &self.w) })
    }

    /// The estimated error of component i in the last step.
    pub(crate) fn local_error(&self, i: usize) -> f64 {
        (self.sigma[self.k_used] * self.ee[i]).abs()
    }

    /// Error estimates at orders k, k−1, k−2, and the order they suggest.
    fn estimate(&mut self) -> Estimates {
        let k = self.k;
        let norm = self.share * wrms(&self.ee, &self.w_test);
        let mut e = Estimates { norm, e_k: self.sigma[k] * norm, e_km1: 0.0, order: k };
        let t_k = (k + 1) as f64 * e.e_k;
        if k > 1 {
            for i in 0..self.n {
                self.work[i] = self.phi[k][i] + self.ee[i];
            }
            e.e_km1 = self.share * self.sigma[k - 1] * wrms(&self.work, &self.w_test);
            let t_km1 = k as f64 * e.e_km1;
            let lower = if k > 2 {
                for i in 0..self.n {
                    self.work[i] += self.phi[k - 1][i];
                }
                let t_km2 = (k - 1) as f64 * self.share * self.sigma[k - 2] * wrms(&self.work, &self.w_test);
                t_km1.max(t_km2) <= t_k
            } else {
                t_km1 <= 0.5 * t_k
            };
            if lower {
                e.order = k - 1;
            }
        }
        e
    }

    fn complete_step(&mut self, e: &Estimates) {
        self.nst += 1;
        let (k, h) = (self.k, self.h);
        let order_rose = k > self.k_used;
        (self.k_used, self.h_used) = (k, h);
        let top = self.max_order();
        let fixed = self.opts.common.fixed_step.is_some();
        if (e.order < k && !fixed) || k == top {
            self.rising = false;
        }
        if self.rising {
            if self.nst > 1 {
                self.k = (k + 1).min(top);
                if !fixed {
                    self.h = (2.0 * h).min(self.opts.common.h_max);
                }
            }
        } else if !fixed {
            let (t_k, t_km1) = ((k + 1) as f64 * e.e_k, k as f64 * e.e_km1);
            let mut e_kp1 = 0.0;
            let change = if e.order < k {
                Change::Lower
            } else if k == top || k + 1 >= self.ns || order_rose {
                Change::Keep
            } else {
                for i in 0..self.n {
                    self.work[i] = self.ee[i] - self.phi[k + 1][i];
                }
                e_kp1 = self.share * wrms(&self.work, &self.w_test) / (k + 2) as f64;
                let t_kp1 = (k + 2) as f64 * e_kp1;
                if k == 1 {
                    if t_kp1 >= 0.5 * t_k { Change::Keep } else { Change::Raise }
                } else if t_km1 <= t_k.min(t_kp1) {
                    Change::Lower
                } else if t_kp1 >= t_k {
                    Change::Keep
                } else {
                    Change::Raise
                }
            };
            let estimate = match change {
                Change::Raise => e_kp1,
                Change::Lower => e.e_km1,
                Change::Keep => e.e_k,
            };
            self.k = match change {
                Change::Raise => k + 1,
                Change::Lower => k - 1,
                Change::Keep => k,
            };
            let r = (2.0 * estimate + 1e-4).powf(-1.0 / (self.k as f64 + 1.0));
            if r >= 2.0 {
                self.h = (2.0 * h).min(self.opts.common.h_max);
            } else if r <= 1.0 {
                self.h = h * r.clamp(0.5, 0.9);
            }
        }
        if k < top {
            self.phi[k + 1].copy_from_slice(&self.ee);
        }
        self.phi[k].iter_mut().zip(&self.ee).for_each(|(p, e)| *p += e);
        for j in (0..k).rev() {
            let (a, b) = self.phi.split_at_mut(j + 1);
            a[j].iter_mut().zip(&b[0]).for_each(|(a, b)| *a += b);
        }
    }

    fn set_weights(&mut self, sys: &dyn DaeSystem) {
        inverse_weights(&self.opts.common, &self.phi[0], &mut self.w);
        self.w_test.copy_from_slice(&self.w);
        self.share = 1.0;
        if self.opts.exclude_algebraic {
            let mut tested = 0;
            for (i, w) in self.w_test.iter_mut().enumerate() {
                if sys.is_differential(i) {
                    tested += 1;
                } else {
                    *w = 0.0;
                }
            }
            self.share = (self.n as f64 / tested.max(1) as f64).sqrt();
        }
    }

    /// Changes the step about to be taken; at the very start the history scales with it.
    fn scale_step(&mut self, h: f64) {
        if self.nst == 0 {
            let r = h / self.h;
            self.phi[1].iter_mut().for_each(|p| *p *= r);
            self.psi[0] = h;
        }
        self.h = h;
    }

    /// Advances by one accepted step, never past `tstop`.
    pub fn step(&mut self, sys: &mut dyn DaeSystem, tstop: f64) -> Result<StepOutcome, StepError> {
        let t = self.t;
        let left = tstop - t;
        if left <= 0.0 {
            return Ok(StepOutcome::ReachedStop);
        }
        let outcome = |lands| if lands { StepOutcome::ReachedStop } else { StepOutcome::Step };
        let common = &self.opts.common;
        if self.n == 0 {
            let h = common.fixed_step.unwrap_or(common.h_max);
            let (_, lands) = fit_step(h, left);
            (self.t_prev, self.t) = (t, if lands { tstop } else { t + h });
            self.stats.steps += 1;
            return Ok(outcome(lands));
        }
        let floor = floor_step(common, t);
        let limit = common.h_max.max(floor);
        let (fixed, given) = (common.fixed_step, common.h_init);
        if self.fresh {
            self.phi[0].copy_from_slice(&self.x);
            self.set_weights(sys);
            let slope = self.share * wrms(&self.xp, &self.w_test);
            let h = fixed.or(given).unwrap_or((1e-3 * left).min(if slope > 0.0 { 0.5 / slope } else { f64::INFINITY }));
            self.h = h.min(limit).max(floor);
            let h = self.h;
            self.phi[1].iter_mut().zip(&self.xp).for_each(|(p, d)| *p = h * d);
            self.psi[0] = h;
            self.fresh = false;
        } else {
            self.set_weights(sys);
        }
        if self.h > limit {
            self.scale_step(limit);
        }
        if self.h < floor {
            self.scale_step(floor);
        }
        let (mut error_failures, wish) = (0, self.h);
        let mut past = std::mem::take(&mut self.past);
        self.keep(&mut past);
        self.past = past;
        loop {
            if self.attempts >= self.opts.common.max_steps {
                self.restore_state();
                return Err(StepError::TooMuchWork { t });
            }
            self.attempts += 1;
            let (h, lands) = fit_step(self.h, left);
            if h != self.h {
                self.scale_step(h);
            }
            let t_new = if lands { tstop } else { t + h };
            match self.attempt(sys, t_new) {
                Ok(e) => {
                    self.complete_step(&e);
                    self.x.copy_from_slice(&self.phi[0]);
                    (self.t_prev, self.t) = (t, t_new);
                    self.stats.steps += 1;
                    (self.stats.last_h, self.stats.last_order) = (h, self.k_used);
                    if let Some(f) = fixed {
                        self.h = f;
                    } else if h < wish && error_failures == 0 && self.h >= h {
                        self.h = self.h.max(wish.min(10.0 * h)); // cut short for the stop time only
                    }
                    return Ok(outcome(lands));
                }
                Err(failure) => {
                    let e = matches!(failure, Failure::Error { .. }).then(|| self.estimate());
                    self.restore();
                    failure.count(&mut self.stats);
                    self.rising = false;
                    let r = match e {
                        Some(e) => {
                            error_failures += 1;
                            match error_failures {
                                1 => {
                                    let est = if e.order == self.k { e.e_k } else { e.e_km1 };
                                    self.k = e.order;
                                    let r = 0.9 * (2.0 * est + 1e-4).powf(-1.0 / (self.k as f64 + 1.0));
                                    if r.is_nan() { 0.25 } else { r.clamp(0.25, 0.9) }
                                }
                                2 => {
                                    self.k = e.order;
                                    0.25
                                }
                                _ => {
                                    self.k = 1;
                                    0.25
                                }
                            }
                        }
                        None => 0.25,
                    };
                    let h = r * self.h;
                    self.scale_step(h);
                    if failure == Failure::Fatal || too_small(&self.opts.common, t, h) {
                        self.restore_state();
                        return Err(failure.into_error(t, h));
                    }
                }
            }
        }
    }

    /// x and x' of the last accepted step.
    fn restore_state(&mut self) {
        self.x.copy_from_slice(&self.phi[0]);
        let mut xp = std::mem::take(&mut self.xp);
        if self.k_used > 0 {
            self.interpolate_derivative(self.t, &mut xp);
        } else {
            let h = self.h;
            xp.iter_mut().zip(&self.phi[1]).for_each(|(x, p)| *x = p / h);
        }
        self.xp = xp;
    }

    // --- What the caller sees ----------------------------------------------------------------------------

    /// End of the last accepted step.
    pub fn t(&self) -> f64 {
        self.t
    }
    /// Start of the last accepted step.
    pub fn t_prev(&self) -> f64 {
        self.t_prev
    }
    /// Values at [`Self::t`].
    pub fn x(&self) -> &[f64] {
        &self.x
    }
    /// Derivatives at [`Self::t`].
    pub fn xp(&self) -> &[f64] {
        &self.xp
    }

    /// Dense output at any t in [t_prev, t], of the order of the step: as many unknowns as fit into `x`.
    pub fn interpolate(&self, t: f64, x: &mut [f64]) {
        if t == self.t || self.t == self.t_prev {
            return x.copy_from_slice(&self.x[..x.len()]);
        }
        self.evaluate(t, x);
    }

    /// Derivative of the dense output.
    pub fn interpolate_derivative(&self, t: f64, dx: &mut [f64]) {
        dx.fill(0.0);
        let delta = t - self.t;
        let (mut c, mut d, mut factor) = (1.0, 0.0, delta / self.psi[0]);
        for j in 1..=self.k_used {
            d = d * factor + c / self.psi[j - 1];
            c *= factor;
            factor = (delta + self.psi[j - 1]) / self.psi[j];
            dx.iter_mut().zip(&self.phi[j]).for_each(|(x, p)| *x += d * p);
        }
    }

    /// Dense output of component i in powers of s = (t − t_prev)/(t_end − t_prev), constant term first.
    pub fn polynomial(&self, i: usize, coeffs: &mut Vec<f64>) {
        coeffs.clear();
        coeffs.push(self.x[i]);
        if self.t == self.t_prev {
            return;
        }
        // Newton form in r = s − 1, then shifted.
        let h = self.t - self.t_prev;
        let mut basis = [0.0; ROWS];
        basis[0] = 1.0;
        for j in 1..=self.k_used {
            let (a, b) = (h / self.psi[j - 1], if j == 1 { 0.0 } else { self.psi[j - 2] / self.psi[j - 1] });
            for m in (0..=j).rev() {
                basis[m] = b * basis[m] + if m > 0 { a * basis[m - 1] } else { 0.0 };
            }
            coeffs.push(0.0);
            for m in 0..=j {
                coeffs[m] += basis[m] * self.phi[j][i];
            }
        }
        substitute_affine(coeffs, 1.0, -1.0);
    }

    /// Counters; `rhs_evals` counts residuals.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
    /// Counts on from these.
    pub(crate) fn count_on(&mut self, stats: Stats) {
        self.stats = stats;
    }
    /// Current options.
    pub fn options(&self) -> &DaeOptions {
        &self.opts
    }
    /// Changes options from the next step on.
    pub fn set_options(&mut self, opts: DaeOptions) {
        assert_eq!(opts.common.atol.len(), self.n);
        self.opts = opts;
    }
    /// Changes the largest step only.
    pub fn set_max_step(&mut self, h_max: f64) {
        self.opts.common.h_max = h_max;
    }
}

struct Estimates {
    norm: f64,
    e_k: f64,
    e_km1: f64,
    order: usize,
}
