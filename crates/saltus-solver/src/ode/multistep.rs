//! Variable-order, variable-step linear multistep methods in Nordsieck form: BDF of order 1–5 with modified Newton
//! (`bdf`), and Adams–Moulton of order 1–12 with functional iteration that gives way to BDF when the problem turns
//! stiff and takes over again when it does not (`lsoda`).
//!
//! The history is the polynomial of degree q through the last points, as z_j = h^j/j! · x^(j)(t_n). One step is
//! prediction (Pascal's triangle), correction z += l·e with e the accumulated Newton correction, and an error test
//! ‖e‖·tq₂ <= 1. Coefficients follow Byrne and Hindmarsh (1975) and Jackson and Sacks-Davis (1980) as CVODE
//! documents them; switching follows Petzold (1983).

use super::control::{
    Failure, RETAKE_ATTEMPTS, eval_rhs, fit_step, floor_step, initial_step, inverse_weights, keep_bounds, too_small,
    worst, wrms,
};
use super::iteration::{IterationMatrix, Jacobian, NOISE, UNSEEN};
use super::{Integrator, OdeSystem, Options, Restart, Stats, StepError, StepOutcome};
use crate::interp::substitute_affine;

const ADAMS_MAX: usize = 12;
const BDF_MAX: usize = 5;
const ROWS: usize = ADAMS_MAX + 2;
/// Newton must be this much more accurate than the error test.
const NEWTON_TOL: f64 = 0.1;
const NEWTON_MAX: usize = 3;
/// Part of what the iteration may leave where something depends on the ends of steps by a large factor, and how often it is repeated for that.
const SHARP: f64 = 1e-4;
const SHARP_MAX: usize = 5;
/// The sensitivities' equations are linear: a stale matrix converges slowly but surely.
const SENSITIVITY_MAX: usize = 6;
/// Steps after which the matrix is factored anew, and the Jacobian evaluated anew.
const FACTOR_AGE: usize = 20;
const JACOBIAN_AGE: usize = 50;
/// A step grows only by at least this factor.
const GROWTH_THRESHOLD: f64 = 1.5;
const GROWTH_MAX: f64 = 10.0;
const GROWTH_MAX_FIRST: f64 = 1e4;
/// Attempts before lsoda considers another change of method.
const SWITCH_WAIT: usize = 20;
/// Size of stability region of Adams PECE by order, from LSODA.
const ADAMS_STABILITY: [f64; ADAMS_MAX] = [0.5, 0.575, 0.55, 0.45, 0.35, 0.25, 0.2, 0.15, 0.1, 0.075, 0.05, 0.025];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Adams,
    Bdf,
}

/// How the previous attempt at this step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Previous {
    First,
    ErrorFailed,
    NewtonFailed,
}

/// BDF, or Adams and BDF with automatic switching.
pub struct Multistep {
    name: &'static str,
    switching: bool,
    family: Family,
    n: usize,
    /// Parameters whose sensitivities are carried along.
    parameters: usize,
    /// Typical sizes of the parameters.
    sizes: Vec<f64>,
    /// Sensitivities take part in the error test.
    tested: bool,
    /// Iterate and right-hand side of one parameter's sensitivities.
    s: Vec<f64>,
    ds: Vec<f64>,
    opts: Options,
    stats: Stats,
    t: f64,
    t_prev: f64,
    /// Nordsieck rows z_0 … z_q: n states, then n sensitivities for each parameter.
    z: Vec<Vec<f64>>,
    q: usize,
    /// Step the rows are scaled by.
    h: f64,
    /// To be applied before the next step.
    q_next: usize,
    eta: f64,
    eta_max: f64,
    /// Steps until a change of order is considered.
    q_wait: usize,
    /// Sizes of past steps, `tau[1]` the last.
    tau: [f64; ROWS + 1],
    l: [f64; ROWS],
    /// tq[1]…tq[3]: error constants of order q−1, q, q+1; tq[5] for the difference of corrections.
    tq: [f64; 6],
    saved_tq5: f64,
    saved_acor: Vec<f64>,
    acor: Vec<f64>,
    acor_norm: f64,
    y: Vec<f64>,
    f: Vec<f64>,
    delta: Vec<f64>,
    /// 1/W.
    w: Vec<f64>,
    jac: Jacobian,
    matrix: IterationMatrix<f64>,
    gamma: f64,
    gamma_factored: f64,
    conv_rate: f64,
    /// Steps since restart, and at the last factorization and Jacobian.
    nst: usize,
    nst_factor: Option<usize>,
    nst_jac: Option<usize>,
    /// The step that last showed how fast the iteration converges, and the first correction of the last step.
    nst_rate: usize,
    first_del: f64,
    /// What the iteration may leave.
    newton_tol: f64,
    /// What the last step began with.
    past: Past,
    /// The Jacobian was evaluated in this very attempt.
    jac_current: bool,
    fresh: bool,
    attempts: usize,
    /// Estimates of ‖∂f/∂x‖ for switching, from functional iteration and from the Jacobian.
    lipschitz: f64,
    jac_norm: f64,
    switch_wait: usize,
    /// Error constants of both families at constant step, by order.
    cm_adams: [f64; ADAMS_MAX + 1],
    cm_bdf: [f64; BDF_MAX + 1],
    /// Scaled error of the last step.
    last_error: f64,
}

/// The Nordsieck array, the step sizes and the number of steps before a step.
#[derive(Default)]
struct Past {
    z: Vec<Vec<f64>>,
    q: usize,
    tau: [f64; ROWS + 1],
    nst: usize,
}

impl Past {
    fn keep(&mut self, z: &[Vec<f64>], tau: [f64; ROWS + 1], nst: usize) {
        self.q = z.len() - 1;
        if self.z.len() < z.len() {
            self.z.resize_with(z.len(), Vec::new);
        }
        self.z.iter_mut().zip(z).for_each(|(p, z)| p.clone_from(z));
        (self.tau, self.nst) = (tau, nst);
    }
}

impl Multistep {
    /// Backward differentiation formulas of order up to min(5, `opts.max_order`).
    pub fn bdf(n: usize, opts: Options) -> Self {
        Self::new("bdf", Family::Bdf, false, n, opts)
    }

    /// Adams and BDF with automatic switching.
    pub fn lsoda(n: usize, opts: Options) -> Self {
        Self::new("lsoda", Family::Adams, true, n, opts)
    }

    /// Adams–Moulton only, for problems known not to be stiff.
    pub fn adams(n: usize, opts: Options) -> Self {
        Self::new("adams", Family::Adams, false, n, opts)
    }

    /// Carries the sensitivities ∂x/∂p_k of as many parameters as there are typical sizes |p_k|, by the staggered corrector
    /// method (Feehery, Tolsma and Barton 1997): after each step of x their linear equations are solved with the same
    /// matrix. The system must implement [`OdeSystem::sensitivity`]. Call before the first restart, then
    /// [`Integrator::set_sensitivities`] after each restart: they are zero until then. For BDF only.
    pub fn with_sensitivities(mut self, sizes: &[f64]) -> Self {
        assert_eq!(self.name, "bdf", "sensitivities need the iteration matrix of BDF");
        let all = self.n * (1 + sizes.len());
        (self.parameters, self.sizes) = (sizes.len(), sizes.to_vec());
        self.z.iter_mut().for_each(|z| z.resize(all, 0.0));
        self.acor.resize(all, 0.0);
        self.saved_acor.resize(all, 0.0);
        self
    }

    /// Lets the sensitivities take part in the error test and in the choice of order and step, each with the weight
    /// (rtol |s p| + atol)/|p| (Maly and Petzold 1996; without this their errors follow those of x).
    pub fn testing_sensitivities(mut self) -> Self {
        self.tested = true;
        self
    }

    /// The norm of a vector over states and, if they are tested, sensitivities: the largest of their weighted norms.
    fn norm(&self, v: impl Fn(usize) -> f64) -> f64 {
        let n = self.n;
        let mean = |s: f64| (s / n as f64).sqrt();
        let mut largest = mean((0..n).map(|i| (v(i) * self.w[i]).powi(2)).sum());
        for k in 0..if self.tested { self.parameters } else { 0 } {
            let at = n * (1 + k);
            let e = |i: usize| v(at + i) * self.sizes[k] * self.sensitivity_weight(k, i, self.z[0][at + i]);
            largest = largest.max(mean((0..n).map(|i| e(i).powi(2)).sum()));
        }
        largest
    }

    /// A change of p by its own size changes x by s p: that is what the tolerance weighs.
    fn sensitivity_weight(&self, k: usize, i: usize, s: f64) -> f64 {
        1.0 / (self.opts.rtol * (s * self.sizes[k]).abs() + self.opts.atol[i]).max(f64::MIN_POSITIVE)
    }

    /// ∂x/∂p_k at [`Integrator::t`].
    pub fn sensitivity(&self, k: usize) -> &[f64] {
        &self.z[0][self.n * (1 + k)..self.n * (2 + k)]
    }

    /// ds = ∂f/∂x s + ∂f/∂p_k, for s in `self.s`.
    fn eval_sensitivity(&mut self, sys: &mut dyn OdeSystem, t: f64, k: usize) -> Result<(), Failure> {
        match sys.sensitivity(t, &self.y, &self.s, k, &mut self.ds)? {
            true if self.ds.iter().all(|v| v.is_finite()) => Ok(()),
            true => Err(Failure::Domain),
            false => Err(Failure::Fatal),
        }
    }

    /// The sensitivities' own corrector, once x is accepted: linear equations, solved with x's matrix.
    fn staggered(&mut self, sys: &mut dyn OdeSystem, t_new: f64) -> Result<(), Failure> {
        let (n, l1_inv) = (self.n, 1.0 / self.l[1]);
        let ratio = self.gamma / self.gamma_factored;
        let scale = if ratio == 1.0 { 1.0 } else { 2.0 / (1.0 + ratio) } / self.gamma_factored;
        for k in 0..self.parameters {
            let at = n * (1 + k);
            self.acor[at..at + n].fill(0.0);
            let mut old = f64::INFINITY;
            let mut rate = 1.0f64;
            for m in 0.. {
                for i in 0..n {
                    self.s[i] = self.z[0][at + i] + self.acor[at + i];
                }
                self.eval_sensitivity(sys, t_new, k)?;
                for i in 0..n {
                    self.delta[i] = self.gamma * self.ds[i] - l1_inv * self.z[1][at + i] - self.acor[at + i];
                }
                self.matrix.solve(&mut self.delta);
                let mut sum = 0.0;
                for i in 0..n {
                    self.delta[i] *= scale;
                    self.acor[at + i] += self.delta[i];
                    let e = self.delta[i] * self.sizes[k] * self.sensitivity_weight(k, i, self.s[i]);
                    sum += e * e;
                }
                let del = (sum / n as f64).sqrt();
                if m > 0 {
                    rate = (0.3 * rate).max(del / old);
                }
                if del * rate.min(1.0) * self.tq[2] <= NEWTON_TOL {
                    break;
                }
                if m >= SENSITIVITY_MAX || !del.is_finite() || (m > 0 && del > 2.0 * old) {
                    return Err(Failure::Newton { component: worst(&self.delta, &self.w) });
                }
                old = del;
            }
        }
        Ok(())
    }

    fn new(name: &'static str, family: Family, switching: bool, n: usize, opts: Options) -> Self {
        let v = || vec![0.0; n];
        let mut m = Multistep {
            name,
            switching,
            family,
            n,
            parameters: 0,
            sizes: Vec::new(),
            tested: false,
            s: v(),
            ds: v(),
            opts,
            stats: Stats::default(),
            t: 0.0,
            t_prev: 0.0,
            // BDF alone never needs the rows of high Adams orders.
            z: vec![v(); if family == Family::Bdf && !switching { BDF_MAX + 2 } else { ROWS }],
            q: 1,
            h: 0.0,
            q_next: 1,
            eta: 1.0,
            eta_max: GROWTH_MAX_FIRST,
            q_wait: 2,
            tau: [0.0; ROWS + 1],
            l: [0.0; ROWS],
            tq: [0.0; 6],
            saved_tq5: 0.0,
            saved_acor: v(),
            acor: v(),
            acor_norm: 0.0,
            y: v(),
            f: v(),
            delta: v(),
            w: v(),
            jac: Jacobian::new(n),
            matrix: IterationMatrix::new(),
            gamma: 0.0,
            gamma_factored: 1.0,
            conv_rate: 1.0,
            nst: 0,
            nst_factor: None,
            nst_jac: None,
            nst_rate: 0,
            first_del: 0.0,
            newton_tol: NEWTON_TOL,
            past: Past::default(),
            jac_current: false,
            fresh: true,
            attempts: 0,
            lipschitz: 0.0,
            jac_norm: 0.0,
            switch_wait: SWITCH_WAIT,
            cm_adams: [0.0; ADAMS_MAX + 1],
            cm_bdf: [0.0; BDF_MAX + 1],
            last_error: 0.0,
        };
        m.tabulate_error_constants();
        m
    }

    /// l_q / tq_2 at constant step: how the error of one family compares to that of the other.
    fn tabulate_error_constants(&mut self) {
        let (family, h) = (self.family, self.h);
        self.h = 1.0;
        self.tau.fill(1.0);
        for (f, max) in [(Family::Adams, ADAMS_MAX), (Family::Bdf, BDF_MAX)] {
            self.family = f;
            for q in 1..=max {
                self.q = q;
                self.set_coefficients();
                let c = self.l[q] / self.tq[2];
                if f == Family::Adams { self.cm_adams[q] = c } else { self.cm_bdf[q] = c }
            }
        }
        (self.family, self.h, self.q) = (family, h, 1);
        self.tau.fill(0.0);
    }

    fn q_max(&self) -> usize {
        let method = if self.family == Family::Adams { ADAMS_MAX } else { BDF_MAX };
        method.min(self.opts.max_order.max(1))
    }

    /// Whether the method in use now is BDF.
    pub fn is_stiff(&self) -> bool {
        self.family == Family::Bdf
    }

    fn begin(&mut self, sys: &mut dyn OdeSystem, h: f64) -> Result<(), Failure> {
        (self.h, self.q, self.q_next, self.q_wait) = (h, 1, 1, 2);
        (self.eta, self.eta_max) = (1.0, GROWTH_MAX_FIRST);
        self.z[1].iter_mut().zip(&self.f).for_each(|(z, f)| *z = h * f);
        self.saved_tq5 = 0.0;
        for k in 0..self.parameters {
            let at = self.n * (1 + k);
            self.y.copy_from_slice(&self.z[0][..self.n]);
            self.s.copy_from_slice(&self.z[0][at..at + self.n]);
            self.eval_sensitivity(sys, self.t, k)?;
            self.z[1][at..].iter_mut().zip(&self.ds).for_each(|(z, f)| *z = h * f);
        }
        self.tau.fill(0.0);
        (self.nst, self.nst_rate) = (0, 0);
        self.fresh = false;
        Ok(())
    }

    // --- The Nordsieck array -----------------------------------------------------------------------------

    /// z_j ← eta^j z_j.
    fn rescale(&mut self, eta: f64) {
        let mut factor = eta;
        for z in &mut self.z[1..=self.q] {
            z.iter_mut().for_each(|v| *v *= factor);
            factor *= eta;
        }
        self.h *= eta;
    }

    fn predict(&mut self) {
        for k in 1..=self.q {
            for j in (k..=self.q).rev() {
                let (a, b) = self.z.split_at_mut(j);
                a[j - 1].iter_mut().zip(&b[0]).for_each(|(a, b)| *a += b);
            }
        }
    }

    fn unpredict(&mut self) {
        for k in 1..=self.q {
            for j in (k..=self.q).rev() {
                let (a, b) = self.z.split_at_mut(j);
                a[j - 1].iter_mut().zip(&b[0]).for_each(|(a, b)| *a -= b);
            }
        }
    }

    /// z_j += a[j] · z_k for j in the range.
    fn add_row(&mut self, a: &[f64; ROWS], range: std::ops::RangeInclusive<usize>, k: usize, sign: f64) {
        for j in range {
            if j != k && a[j] != 0.0 {
                let (lo, hi) = self.z.split_at_mut(j.max(k));
                let (zj, zk) = if j < k { (&mut lo[j], &hi[0]) } else { (&mut hi[0], &lo[k]) };
                zj.iter_mut().zip(zk).for_each(|(zj, zk)| *zj += sign * a[j] * zk);
            }
        }
    }

    fn change_order(&mut self, q_new: usize) {
        while self.q != q_new {
            if q_new > self.q { self.raise_order() } else { self.lower_order() }
        }
        self.q_wait = self.q + 1;
    }

    fn raise_order(&mut self) {
        let q = self.q;
        match self.family {
            Family::Adams => self.z[q + 1].fill(0.0),
            Family::Bdf => {
                let mut l = [0.0; ROWS];
                l[2] = 1.0;
                let (mut alpha0, mut alpha1, mut prod, mut xi_old, mut hsum) = (-1.0, 1.0, 1.0, 1.0, self.h);
                for j in 1..q {
                    hsum += self.tau[j + 1];
                    let xi = hsum / self.h;
                    prod *= xi;
                    alpha0 -= 1.0 / (j as f64 + 1.0);
                    alpha1 += 1.0 / xi;
                    for i in (2..=j + 2).rev() {
                        l[i] = l[i] * xi_old + l[i - 1];
                    }
                    xi_old = xi;
                }
                let a1 = (-alpha0 - alpha1) / prod;
                let (z, acor) = (&mut self.z[q + 1], &self.saved_acor);
                z.iter_mut().zip(acor).for_each(|(z, a)| *z = a1 * a);
                self.add_row(&l, 2..=q, q + 1, 1.0);
            }
        }
        self.q += 1;
    }

    fn lower_order(&mut self) {
        let q = self.q;
        if q > 2 {
            let mut l = [0.0; ROWS];
            let mut hsum = 0.0;
            match self.family {
                Family::Adams => {
                    l[1] = 1.0;
                    for j in 1..=q - 2 {
                        hsum += self.tau[j];
                        let xi = hsum / self.h;
                        for i in (1..=j + 1).rev() {
                            l[i] = l[i] * xi + l[i - 1];
                        }
                    }
                    let m = l;
                    for j in 1..=q - 2 {
                        l[j + 1] = q as f64 * m[j] / (j as f64 + 1.0);
                    }
                }
                Family::Bdf => {
                    l[2] = 1.0;
                    for j in 1..=q - 2 {
                        hsum += self.tau[j];
                        let xi = hsum / self.h;
                        for i in (2..=j + 2).rev() {
                            l[i] = l[i] * xi + l[i - 1];
                        }
                    }
                }
            }
            self.add_row(&l, 2..=q - 1, q, -1.0);
        }
        self.q -= 1;
    }

    // --- Coefficients ------------------------------------------------------------------------------------

    fn set_coefficients(&mut self) {
        match self.family {
            Family::Adams => self.set_adams(),
            Family::Bdf => self.set_bdf(),
        }
        self.gamma = self.h / self.l[1];
    }

    fn set_bdf(&mut self) {
        let (q, h) = (self.q, self.h);
        let l = &mut self.l;
        l.fill(0.0);
        (l[0], l[1]) = (1.0, 1.0);
        let (mut xi_inv, mut xistar_inv) = (1.0, 1.0);
        let (mut alpha0, mut alpha0_hat, mut hsum) = (-1.0, -1.0, h);
        if q > 1 {
            for j in 2..q {
                hsum += self.tau[j - 1];
                xi_inv = h / hsum;
                alpha0 -= 1.0 / j as f64;
                for i in (1..=j).rev() {
                    l[i] += l[i - 1] * xi_inv;
                }
            }
            alpha0 -= 1.0 / q as f64;
            xistar_inv = -l[1] - alpha0;
            hsum += self.tau[q - 1];
            xi_inv = h / hsum;
            alpha0_hat = -l[1] - xi_inv;
            for i in (1..=q).rev() {
                l[i] += l[i - 1] * xistar_inv;
            }
        }
        let qf = q as f64;
        let a1 = 1.0 - alpha0_hat + alpha0;
        let a2 = 1.0 + qf * a1;
        self.tq[2] = (a1 / (alpha0 * a2)).abs();
        self.tq[5] = (a2 * xistar_inv / (l[q] * xi_inv)).abs();
        if self.q_wait == 1 {
            self.tq[1] = 1.0;
            if q > 1 {
                let c = xistar_inv / l[q];
                let a3 = alpha0 + 1.0 / qf;
                let a4 = alpha0_hat + xi_inv;
                self.tq[1] = (c * (1.0 - a4 + a3) / a3).abs();
            }
            hsum += self.tau[q];
            xi_inv = h / hsum;
            let a5 = alpha0 - 1.0 / (qf + 1.0);
            let a6 = alpha0_hat - xi_inv;
            let cpp_inv = (1.0 - a6 + a5) / a2;
            self.tq[3] = (cpp_inv / (xi_inv * (qf + 2.0) * a5)).abs();
        }
    }

    fn set_adams(&mut self) {
        let (q, h) = (self.q, self.h);
        self.l.fill(0.0);
        if q == 1 {
            (self.l[0], self.l[1]) = (1.0, 1.0);
            (self.tq[1], self.tq[2], self.tq[3], self.tq[5]) = (1.0, 0.5, 1.0 / 12.0, 1.0);
            return;
        }
        /// ∫ of Σ a_i x^i · x^{k−1} over [−1, 0], up to sign.
        fn alternating_sum(a: &[f64], k: usize) -> f64 {
            a.iter().enumerate().map(|(i, a)| if i % 2 == 0 { a / (i + k) as f64 } else { -a / (i + k) as f64 }).sum()
        }
        let mut m = [0.0; ROWS];
        m[0] = 1.0;
        let mut hsum = h;
        for j in 1..q {
            if j == q - 1 && self.q_wait == 1 {
                let sum = alternating_sum(&m[..q - 1], 2);
                self.tq[1] = q as f64 * sum / m[q - 2];
            }
            let xi_inv = h / hsum;
            for i in (1..=j).rev() {
                m[i] += m[i - 1] * xi_inv;
            }
            hsum += self.tau[j];
        }
        let m0_inv = 1.0 / alternating_sum(&m[..q], 1);
        let m1 = alternating_sum(&m[..q], 2);
        self.l[0] = 1.0;
        for i in 1..=q {
            self.l[i] = m0_inv * m[i - 1] / i as f64;
        }
        let xi = hsum / h;
        self.tq[2] = m1 * m0_inv / xi;
        self.tq[5] = xi / self.l[q];
        if self.q_wait == 1 {
            for i in (1..=q).rev() {
                m[i] += m[i - 1] / xi;
            }
            self.tq[3] = alternating_sum(&m[..=q], 2) * m0_inv / (q as f64 + 1.0);
        }
    }

    // --- The implicit equations e = h/l₁ · (f(z₀ + e) − z₁/h), e the accumulated correction `acor` ----------

    fn newton(&mut self, sys: &mut dyn OdeSystem, t_new: f64, previous: Previous) -> Result<(), Failure> {
        let mut ratio = self.gamma / self.gamma_factored;
        let aged = self.nst_factor.is_none_or(|k| self.nst >= k + FACTOR_AGE);
        let mut refactor = previous != Previous::First || aged || (ratio - 1.0).abs() > 0.3;
        let mut bad_jacobian = previous == Previous::NewtonFailed;
        self.jac_current = false;
        loop {
            self.y.copy_from_slice(&self.z[0][..self.n]);
            eval_rhs(sys, &mut self.stats, t_new, &self.y, &mut self.f)?;
            if refactor {
                if bad_jacobian || self.nst_jac.is_none_or(|k| self.nst > k + JACOBIAN_AGE) {
                    self.jac.eval(sys, &mut self.stats, t_new, &self.y, &self.f, &self.w, self.h)?;
                    self.jac_current = true;
                    self.nst_jac = Some(self.nst);
                    self.jac_norm = f64::NAN;
                }
                self.matrix.factor(&self.jac.matrix, 1.0 / self.gamma, &self.w, &mut self.stats)?;
                (self.gamma_factored, ratio, self.conv_rate) = (self.gamma, 1.0, 1.0);
                self.nst_factor = Some(self.nst);
            }
            match self.newton_iterate(sys, t_new, ratio) {
                Ok(()) => return Ok(()),
                Err(Failure::Fatal) => return Err(Failure::Fatal),
                Err(e) if self.jac_current => return Err(e),
                Err(_) => {
                    // The old Jacobian may be to blame: once more with a fresh one.
                    refactor = true;
                    bad_jacobian = true;
                }
            }
        }
    }

    fn newton_iterate(&mut self, sys: &mut dyn OdeSystem, t_new: f64, ratio: f64) -> Result<(), Failure> {
        let l1_inv = 1.0 / self.l[1];
        let scale = if ratio == 1.0 { 1.0 } else { 2.0 / (1.0 + ratio) } / self.gamma_factored;
        self.acor.fill(0.0);
        let mut del_old = 0.0;
        // An old matrix that is far too large makes corrections that are far too small, and they count as the last ones: how fast they
        // shrink tells, and is looked at now and then.
        let mut unseen = !self.jac_current && self.nst >= self.nst_rate + UNSEEN;
        let most = if self.newton_tol < NEWTON_TOL { SHARP_MAX } else { NEWTON_MAX };
        for m in 0..most {
            self.stats.newton_iters += 1;
            for i in 0..self.n {
                self.delta[i] = self.gamma * self.f[i] - l1_inv * self.z[1][i] - self.acor[i];
            }
            self.matrix.solve(&mut self.delta);
            for i in 0..self.n {
                self.delta[i] *= scale;
                self.acor[i] += self.delta[i];
                self.y[i] = self.z[0][i] + self.acor[i];
            }
            let del = wrms(&self.delta, &self.w);
            if m == 0 {
                // Much smaller than before: the end of something, or of what the matrix knows.
                unseen |= !self.jac_current && del < 0.1 * self.first_del;
                self.first_del = del;
            } else {
                self.conv_rate = (0.3 * self.conv_rate).max(del / del_old);
                self.nst_rate = self.nst;
                if unseen && del > 0.9 * del_old && del > NOISE {
                    break;
                }
            }
            let seen = m > 0 || !unseen || del <= NOISE;
            if seen && del * self.conv_rate.min(1.0) * self.tq[2] <= self.newton_tol {
                self.acor_norm = if m == 0 { del } else { wrms(&self.acor[..self.n], &self.w) };
                return Ok(());
            }
            if m + 1 == most || !del.is_finite() || (m > 0 && del > 2.0 * del_old) {
                break;
            }
            del_old = del;
            eval_rhs(sys, &mut self.stats, t_new, &self.y, &mut self.f)?;
        }
        Err(Failure::Newton { component: worst(&self.delta, &self.w) })
    }

    fn functional(&mut self, sys: &mut dyn OdeSystem, t_new: f64) -> Result<(), Failure> {
        let l1_inv = 1.0 / self.l[1];
        self.acor.fill(0.0);
        self.y.copy_from_slice(&self.z[0][..self.n]);
        let (mut del_old, mut rate) = (0.0, 0.0f64);
        self.conv_rate = 1.0;
        for m in 0..NEWTON_MAX {
            self.stats.newton_iters += 1;
            eval_rhs(sys, &mut self.stats, t_new, &self.y, &mut self.f)?;
            for i in 0..self.n {
                let a = l1_inv * (self.h * self.f[i] - self.z[1][i]);
                self.delta[i] = a - self.acor[i];
                self.acor[i] = a;
                self.y[i] = self.z[0][i] + a;
            }
            let del = wrms(&self.delta, &self.w);
            if m > 0 {
                rate = rate.max(if del <= 1024.0 * del_old { del / del_old } else { 1024.0 });
                self.conv_rate = (0.3 * self.conv_rate).max(del / del_old);
            }
            // lsoda corrects at least twice, to see how stiff the problem is.
            let seen = m > 0 || !self.switching || del == 0.0;
            if seen && del * self.conv_rate.min(1.0) * self.tq[2] <= NEWTON_TOL {
                if rate > 0.0 {
                    self.lipschitz = rate / self.gamma;
                }
                self.acor_norm = if m == 0 { del } else { wrms(&self.acor[..self.n], &self.w) };
                return Ok(());
            }
            if m + 1 == NEWTON_MAX || !del.is_finite() || (m > 1 && del > 2.0 * del_old) {
                break;
            }
            del_old = del;
        }
        if rate > 0.0 {
            self.lipschitz = rate / self.gamma;
        }
        Err(Failure::Newton { component: worst(&self.delta, &self.w) })
    }

    // --- One step ----------------------------------------------------------------------------------------

    fn try_step(&mut self, sys: &mut dyn OdeSystem, t_new: f64, previous: Previous) -> Result<f64, Failure> {
        match self.family {
            Family::Bdf => self.newton(sys, t_new, previous)?,
            Family::Adams => self.functional(sys, t_new)?,
        }
        let error = self.acor_norm * self.tq[2];
        if error.is_nan() || (error > 1.0 && self.opts.fixed_step.is_none()) {
            return Err(Failure::Error { component: worst(&self.acor[..self.n], &self.w) });
        }
        if !self.opts.bounds.is_empty() {
            keep_bounds(&self.opts, &mut self.y, &self.w)?;
            for i in 0..self.n {
                self.acor[i] = self.y[i] - self.z[0][i];
            }
        }
        if self.parameters > 0 {
            self.staggered(sys, t_new)?;
        }
        if self.tested {
            self.acor_norm = self.norm(|i| self.acor[i]);
            let error = self.acor_norm * self.tq[2];
            if error.is_nan() || (error > 1.0 && self.opts.fixed_step.is_none()) {
                return Err(Failure::Error { component: worst(&self.acor[..self.n], &self.w) });
            }
            return Ok(error);
        }
        Ok(error)
    }

    /// After a rejected attempt: a smaller step, a lower order, or a fresh start at order one.
    fn shrink(&mut self, sys: &mut dyn OdeSystem, failure: Failure, error_failures: usize) -> Result<(), StepError> {
        let q = self.q;
        self.eta_max = 1.0;
        let eta = match failure {
            Failure::Error { .. } if error_failures <= 3 => {
                let e = self.acor_norm * self.tq[2];
                let eta = 1.0 / ((6.0 * e).powf(1.0 / (q as f64 + 1.0)) + 1e-6);
                let eta = if eta.is_nan() { 0.1 } else { eta.clamp(0.1, 0.9) };
                if error_failures >= 2 { eta.min(0.2) } else { eta }
            }
            Failure::Error { .. } => {
                if q > 1 {
                    let order = q - 1;
                    self.change_order(order);
                }
                0.1
            }
            _ => 0.25,
        };
        self.rescale(eta);
        if failure == Failure::Fatal || too_small(&self.opts, self.t, self.h) {
            return Err(failure.into_error(self.t, self.h));
        }
        if error_failures > 3 && q == 1 {
            self.y.copy_from_slice(&self.z[0][..self.n]);
            let f = eval_rhs(sys, &mut self.stats, self.t, &self.y, &mut self.f);
            f.map_err(|e| e.into_error(self.t, self.h))?;
            let h = self.h;
            self.z[1].iter_mut().zip(&self.f).for_each(|(z, f)| *z = h * f);
            self.q_wait = 10;
        }
        Ok(())
    }

    fn complete_step(&mut self) {
        self.nst += 1;
        let q = self.q;
        for i in (2..=q).rev() {
            self.tau[i] = self.tau[i - 1];
        }
        if q == 1 && self.nst > 1 {
            self.tau[2] = self.tau[1];
        }
        self.tau[1] = self.h;
        for j in 0..=q {
            let l = self.l[j];
            self.z[j].iter_mut().zip(&self.acor).for_each(|(z, a)| *z += l * a);
        }
        self.q_wait -= 1;
        if self.q_wait == 1 && q != self.q_max() {
            self.saved_acor.copy_from_slice(&self.acor);
            self.saved_tq5 = self.tq[5];
        }
    }

    /// Order and step size for the next step.
    fn prepare_next(&mut self, error: f64) {
        let q = self.q;
        (self.q_next, self.eta) = (q, 1.0);
        if self.opts.fixed_step.is_some() {
            if self.q_wait <= 1 && q < self.q_max() {
                self.saved_acor.copy_from_slice(&self.acor);
                self.q_next = q + 1;
            }
            self.q_wait = self.q_wait.max(2);
            return;
        }
        if self.eta_max == 1.0 {
            self.q_wait = self.q_wait.max(2);
            return;
        }
        let gain = |bias: f64, e: f64, order: usize| 1.0 / ((bias * e).powf(1.0 / order as f64) + 1e-6);
        let mut eta = gain(6.0, error, q + 1);
        if self.q_wait == 0 {
            self.q_wait = 2;
            let eta_q = eta;
            let lower = if q > 1 { gain(6.0, self.norm(|i| self.z[q][i]) * self.tq[1], q) } else { 0.0 };
            let mut higher = 0.0;
            if q < self.q_max() && self.saved_tq5 != 0.0 {
                let c = (self.tq[5] / self.saved_tq5) * (self.h / self.tau[2]).powi(q as i32 + 1);
                let change = self.norm(|i| self.acor[i] - c * self.saved_acor[i]);
                higher = gain(10.0, change * self.tq[3], q + 2);
            }
            eta = eta_q.max(lower).max(higher);
            if eta >= GROWTH_THRESHOLD {
                if eta == higher {
                    self.q_next = q + 1;
                    self.saved_acor.copy_from_slice(&self.acor);
                } else if eta == lower && eta != eta_q {
                    self.q_next = q - 1;
                }
            }
        }
        // What stability leaves of the gain. An order that would be more accurate is taken for the same step too: only
        // there does one see that the step is bounded by stability alone, and that BDF could take a longer one.
        let mut stable_order = false;
        if self.switching && self.family == Family::Adams && self.lipschitz > 0.0 {
            let limit = ADAMS_STABILITY[self.q_next - 1] / (self.lipschitz * self.h);
            stable_order = self.q_next > q && limit >= 1.0;
            eta = eta.min(limit.max(1.0));
        }
        if eta >= GROWTH_THRESHOLD {
            self.eta = eta.min(self.eta_max);
        } else if !stable_order {
            self.q_next = q;
        }
    }

    /// lsoda: compares the steps both families could take and changes over if it pays.
    fn consider_switch(&mut self, error: f64) {
        if self.switch_wait > 0 {
            self.switch_wait -= 1;
            return;
        }
        let q = self.q;
        let gain = |e: f64, order: usize| 1.0 / (1.2 * e.powf(1.0 / order as f64) + 1.2e-6);
        let stable = |norm: f64, h: f64, gain: f64, order: usize| {
            let limit = if norm * h * gain > 1e-5 { ADAMS_STABILITY[order - 1] / (norm * h) } else { 2.0 * gain };
            gain.min(limit)
        };
        let bdf_max = BDF_MAX.min(self.opts.max_order.max(1));
        // What neither may take is no advantage.
        let most = self.opts.h_max / self.h;
        match self.family {
            Family::Adams => {
                if self.lipschitz == 0.0 {
                    return;
                }
                let adams = stable(self.lipschitz, self.h, gain(error, q + 1), q);
                let (order, bdf) = if q > bdf_max {
                    (bdf_max, gain(wrms(&self.z[bdf_max + 1][..self.n], &self.w) / self.cm_bdf[bdf_max], bdf_max + 1))
                } else {
                    (q, gain(error * self.cm_adams[q] / self.cm_bdf[q], q + 1))
                };
                if bdf.min(most) < 5.0 * adams {
                    return;
                }
                self.change_order(order);
                self.family = Family::Bdf;
                (self.nst_factor, self.nst_jac) = (None, None);
                self.eta = bdf.clamp(0.1, GROWTH_MAX);
            }
            Family::Bdf => {
                if self.jac_norm.is_nan() {
                    self.jac_norm = self.weighted_jacobian_norm();
                }
                let adams = gain(error * self.cm_bdf[q] / self.cm_adams[q], q + 1);
                let adams = stable(self.jac_norm, self.h, adams, q);
                if adams < gain(error, q + 1).min(most) {
                    return;
                }
                self.family = Family::Adams;
                self.lipschitz = 0.0;
                self.eta = adams.clamp(0.1, GROWTH_MAX);
            }
        }
        self.stats.method_switches += 1;
        self.switch_wait = SWITCH_WAIT;
        self.q_next = self.q;
        self.q_wait = self.q + 1;
        self.saved_tq5 = 0.0;
        self.conv_rate = 1.0;
    }

    /// max_i Σ_j |J_ij| W_j / W_i.
    fn weighted_jacobian_norm(&mut self) -> f64 {
        let j = &self.jac.matrix;
        self.delta.fill(0.0);
        let n = self.n;
        match j.pattern() {
            Some(p) => {
                for ((i, k), v) in p.entries().zip(j.values()) {
                    self.delta[i] += v.abs() * self.w[i] / self.w[k];
                }
            }
            None => {
                for k in 0..n {
                    for i in 0..n {
                        self.delta[i] += j.values()[k * n + i].abs() * self.w[i] / self.w[k];
                    }
                }
            }
        }
        self.delta.iter().copied().fold(0.0, f64::max)
    }

    /// The polynomial re-expanded about an earlier time within the last step.
    fn shift_to(&mut self, t: f64) {
        let r = (t - self.t) / self.h;
        for k in 0..self.q {
            for j in (k..self.q).rev() {
                let (a, b) = self.z.split_at_mut(j + 1);
                a[j].iter_mut().zip(&b[0]).for_each(|(a, b)| *a += r * b);
            }
        }
        self.tau[1] -= self.t - t;
        if self.tau[1] <= 1e-6 * self.h {
            self.tau.copy_within(2.., 1);
            self.tau[1] = self.tau[1].max(1e-3 * self.h);
        }
        self.saved_tq5 = 0.0;
        (self.q_next, self.eta, self.q_wait) = (self.q, 1.0, self.q + 1);
    }

    /// One attempt to take the last step again so that it ends at `t`, unless it cannot be; why it failed.
    fn take_again(&mut self, sys: &mut dyn OdeSystem, t: f64) -> Option<Failure> {
        let (begin, end) = (self.t_prev, self.t);
        if !(begin < t && t < end) || self.n == 0 || self.opts.fixed_step.is_some() || self.past.q != self.q {
            return None;
        }
        let last = (self.z.clone(), self.tau, self.nst, self.h, self.q_wait);
        let (q_next, eta, wish) = (self.q_next, self.eta, self.h * self.eta);
        let saved = (self.saved_acor.clone(), self.saved_tq5);
        let past = std::mem::take(&mut self.past);
        self.z.iter_mut().zip(&past.z[..=past.q]).for_each(|(z, p)| z.copy_from_slice(p));
        (self.tau, self.nst) = (past.tau, past.nst);
        self.past = past;
        inverse_weights(&self.opts, &self.z[0][..self.n], &mut self.w);
        self.rescale((t - begin) / self.h);
        self.h = t - begin;
        let z = self.z[..=self.q].to_vec();
        self.predict();
        self.set_coefficients();
        // What depends on the end of this step may depend on it by a large factor.
        let newton_tol = std::mem::replace(&mut self.newton_tol, SHARP * NEWTON_TOL);
        let done = self.try_step(sys, t, Previous::First);
        self.newton_tol = newton_tol;
        match done {
            Ok(error) => {
                self.past.keep(&z, self.tau, self.nst);
                self.complete_step();
                (self.t_prev, self.t) = (begin, t);
                (self.stats.last_h, self.stats.last_order) = (self.h, self.q);
                self.eta_max = self.eta_max.max(wish / self.h);
                self.q_wait = self.q_wait.max(2);
                self.prepare_next(error);
                self.last_error = error;
                self.eta_max = GROWTH_MAX;
                None
            }
            Err(failure) => {
                failure.count(&mut self.stats);
                (self.z, self.tau, self.nst, self.h, self.q_wait) = last;
                (self.saved_acor, self.saved_tq5) = saved;
                (self.q_next, self.eta) = (q_next, eta);
                inverse_weights(&self.opts, &self.z[0][..self.n], &mut self.w);
                Some(failure)
            }
        }
    }
}

impl Integrator for Multistep {
    fn name(&self) -> &'static str {
        self.name
    }

    fn restart(&mut self, sys: &mut dyn OdeSystem, t: f64, x: &[f64], kind: Restart) -> Result<(), StepError> {
        self.stats.restarts += 1;
        let new_pattern = self.jac.set_up(sys);
        if new_pattern {
            self.matrix.set_up(&self.jac.matrix, &self.opts);
        }
        if self.name == "lsoda" {
            self.jac.expect_differences();
        }
        let usable = !self.fresh && !new_pattern && self.h > 0.0;
        if kind == Restart::Hot && usable && t >= self.t_prev && t <= self.t {
            if t != self.t {
                self.shift_to(t);
            }
            self.z[0][..self.n].copy_from_slice(x);
            (self.t, self.t_prev) = (t, t);
            return Ok(());
        }
        self.z[0][..self.n].copy_from_slice(x);
        self.z[0][self.n..].fill(0.0);
        (self.t, self.t_prev) = (t, t);
        eval_rhs(sys, &mut self.stats, t, x, &mut self.f).map_err(|e| e.into_error(t, 0.0))?;
        self.nst_factor = None;
        self.fresh = true;
        self.nst_jac = None;
        if kind == Restart::Cold || !usable {
            (self.lipschitz, self.jac_norm, self.switch_wait) = (0.0, f64::NAN, SWITCH_WAIT);
        }
        Ok(())
    }

    fn step(&mut self, sys: &mut dyn OdeSystem, tstop: f64) -> Result<StepOutcome, StepError> {
        let t = self.t;
        let left = tstop - t;
        if left <= 0.0 {
            return Ok(StepOutcome::ReachedStop);
        }
        let outcome = |lands| if lands { StepOutcome::ReachedStop } else { StepOutcome::Step };
        if self.n == 0 {
            let h = self.opts.fixed_step.unwrap_or(self.opts.h_max);
            let (_, lands) = fit_step(h, left);
            (self.t_prev, self.t) = (t, if lands { tstop } else { t + h });
            self.stats.steps += 1;
            (self.stats.last_h, self.stats.last_order) = (self.t - t, 1);
            return Ok(outcome(lands));
        }
        inverse_weights(&self.opts, &self.z[0][..self.n], &mut self.w);
        if self.fresh {
            let h = match self.opts.fixed_step {
                Some(h) => h,
                None => initial_step(
                    sys,
                    &self.opts,
                    &mut self.stats,
                    1,
                    t,
                    &self.z[0][..self.n],
                    &self.f,
                    &self.w,
                    left,
                    &mut self.y,
                    &mut self.delta,
                )?,
            };
            self.begin(sys, h).map_err(|e| e.into_error(t, h))?;
        } else {
            if self.switching {
                self.consider_switch(self.last_error);
            }
            if self.q_next != self.q {
                let q = self.q_next;
                self.change_order(q);
            }
            let mut eta = self.eta;
            if let Some(h) = self.opts.fixed_step {
                eta = h / self.h;
            }
            if eta != 1.0 {
                self.rescale(eta);
            }
            (self.eta, self.q_next) = (1.0, self.q);
        }
        let limit = self.opts.h_max.max(floor_step(&self.opts, t));
        if self.h > limit {
            self.rescale(limit / self.h);
        }
        if self.h < floor_step(&self.opts, t) {
            self.rescale(floor_step(&self.opts, t) / self.h);
        }
        let (mut previous, mut error_failures, wish) = (Previous::First, 0, self.h);
        loop {
            if self.attempts >= self.opts.max_steps {
                return Err(StepError::TooMuchWork { t });
            }
            self.attempts += 1;
            let (h, lands) = fit_step(self.h, left);
            if h != self.h {
                self.rescale(h / self.h);
                self.h = h;
            }
            let t_new = if lands { tstop } else { t + h };
            self.past.keep(&self.z[..=self.q], self.tau, self.nst);
            self.predict();
            self.set_coefficients();
            match self.try_step(sys, t_new, previous) {
                Ok(error) => {
                    self.complete_step();
                    (self.t_prev, self.t) = (t, t_new);
                    self.stats.steps += 1;
                    (self.stats.last_h, self.stats.last_order) = (h, self.q);
                    if previous == Previous::First {
                        self.eta_max = self.eta_max.max(wish / h); // cut short for the stop time only
                    }
                    self.prepare_next(error);
                    self.last_error = error;
                    self.eta_max = GROWTH_MAX;
                    return Ok(outcome(lands));
                }
                Err(failure) => {
                    self.unpredict();
                    failure.count(&mut self.stats);
                    previous = if matches!(failure, Failure::Error { .. }) {
                        error_failures += 1;
                        Previous::ErrorFailed
                    } else {
                        Previous::NewtonFailed
                    };
                    self.shrink(sys, failure, error_failures)?;
                }
            }
        }
    }

    fn local_error(&self, i: usize) -> Option<f64> {
        self.opts.fixed_step.is_none().then(|| (self.acor[i] * self.tq[2]).abs())
    }

    fn retake(&mut self, sys: &mut dyn OdeSystem, t: f64) -> bool {
        let begin = self.t_prev;
        let mut t = t;
        for _ in 0..RETAKE_ATTEMPTS {
            match self.take_again(sys, t) {
                Some(Failure::Fatal) => return false,
                Some(_) => t = begin + 0.5 * (t - begin),
                None => return self.t == t,
            }
        }
        false
    }

    fn retakes(&self) -> bool {
        true
    }

    fn sharpen(&mut self, on: bool) {
        self.newton_tol = if on { SHARP * NEWTON_TOL } else { NEWTON_TOL };
    }

    fn t(&self) -> f64 {
        self.t
    }
    fn t_prev(&self) -> f64 {
        self.t_prev
    }
    fn x(&self) -> &[f64] {
        &self.z[0][..self.n]
    }

    fn interpolate(&self, t: f64, x: &mut [f64]) {
        if t == self.t || self.t == self.t_prev {
            return x.copy_from_slice(&self.z[0][..self.n]);
        }
        let r = (t - self.t) / self.h;
        x.copy_from_slice(&self.z[self.q][..self.n]);
        for z in self.z[..self.q].iter().rev() {
            x.iter_mut().zip(z).for_each(|(x, z)| *x = *x * r + z);
        }
    }

    fn interpolate_derivative(&self, t: f64, dx: &mut [f64]) {
        let r = (t - self.t) / self.h;
        dx.fill(0.0);
        for j in (1..=self.q).rev() {
            let a = j as f64 / self.h;
            dx.iter_mut().zip(&self.z[j]).for_each(|(d, z)| *d = *d * r + a * z);
        }
    }

    fn polynomial(&self, i: usize, coeffs: &mut Vec<f64>) {
        coeffs.clear();
        if self.t == self.t_prev {
            return coeffs.push(self.z[0][i]);
        }
        coeffs.extend(self.z[..=self.q].iter().map(|z| z[i]));
        let r = (self.t - self.t_prev) / self.h;
        substitute_affine(coeffs, r, -r);
    }

    fn stats(&self) -> &Stats {
        &self.stats
    }
    fn options(&self) -> &Options {
        &self.opts
    }
    fn set_options(&mut self, opts: Options) {
        assert_eq!(opts.atol.len(), self.n);
        self.opts = opts;
    }
    fn set_max_step(&mut self, h_max: f64) {
        self.opts.h_max = h_max;
    }
    fn set_sensitivities(&mut self, s: &[f64]) {
        let n = self.n;
        self.z[0][n..].copy_from_slice(s);
        self.fresh = true;
    }
    fn interpolate_sensitivity(&self, k: usize, t: f64, s: &mut [f64]) {
        let range = self.n * (1 + k)..self.n * (2 + k);
        let r = if self.t == self.t_prev { 0.0 } else { (t - self.t) / self.h };
        s.copy_from_slice(&self.z[self.q][range.clone()]);
        for z in self.z[..self.q].iter().rev() {
            s.iter_mut().zip(&z[range.clone()]).for_each(|(x, z)| *x = *x * r + z);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ode::EvalError;

    /// x' = −2(x − sin t) + cos t + (x² − sin² t)/4, solution sin t.
    struct Sine;
    impl OdeSystem for Sine {
        fn dim(&self) -> usize {
            1
        }
        fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
            let s = t.sin();
            dx[0] = -2.0 * (x[0] - s) + t.cos() + 0.25 * (x[0] * x[0] - s * s);
            Ok(())
        }
    }

    /// x' = −8000(x − cos t) − sin t, solution cos t.
    struct Fast;
    impl OdeSystem for Fast {
        fn dim(&self) -> usize {
            1
        }
        fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
            dx[0] = -8000.0 * (x[0] - t.cos()) - t.sin();
            Ok(())
        }
    }

    #[test]
    fn an_order_bounded_by_stability_does_not_hide_stiffness() {
        for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
            let mut m = Multistep::lsoda(1, Options::new(1, tolerance, 0.01 * tolerance));
            m.restart(&mut Fast, 0.0, &[1.0], Restart::Cold).unwrap();
            while m.step(&mut Fast, 2.0).unwrap() == StepOutcome::Step {}
            assert!(m.is_stiff() && m.stats().steps < 1000, "{tolerance}: {} steps", m.stats().steps);
            assert!((m.x()[0] - 2f64.cos()).abs() < 100.0 * tolerance);
        }
    }

    /// Error at t = 2 with constant step and order from an exact start.
    fn error(mut m: Multistep, q: usize, steps: usize) -> f64 {
        let (t0, h) = (0.3f64, 1.7 / steps as f64);
        m.restart(&mut Sine, t0, &[t0.sin()], Restart::Cold).unwrap();
        m.begin(&mut Sine, h).unwrap();
        let mut factor = 1.0;
        for j in 0..=q {
            m.z[j][0] = factor * (t0 + j as f64 * std::f64::consts::FRAC_PI_2).sin();
            factor *= h / (j as f64 + 1.0);
        }
        m.tau.fill(h);
        (m.q, m.q_next, m.q_wait) = (q, q, 1000);
        while m.step(&mut Sine, 2.0).unwrap() == StepOutcome::Step {
            assert_eq!(m.q, q);
        }
        (m.x()[0] - 2f64.sin()).abs()
    }

    fn options(q: usize, steps: usize) -> Options {
        // Sharp enough for the error to be that of the formula, not sharper than functional iteration can do.
        let mut o = Options::new(1, [1e-8, 1e-10, 1e-11, 1e-12][q.min(4) - 1], 1e-13);
        (o.max_order, o.fixed_step) = (q, Some(1.7 / steps as f64));
        o
    }

    #[test]
    fn constant_order_converges_with_that_order() {
        for (family, top) in [("bdf", 5), ("adams", 5)] {
            for q in 1..=top {
                let make = |steps| match family {
                    "bdf" => Multistep::bdf(1, options(q, steps)),
                    _ => Multistep::adams(1, options(q, steps)),
                };
                let base = [400, 400, 160, 120, 60][q - 1];
                let (e1, e2) = (error(make(base), q, base), error(make(2 * base), q, 2 * base));
                let p = (e1 / e2).log2();
                println!("{family} order {q}: {p:.3} ({e2:.2e})");
                assert!((p - q as f64).abs() < 0.2, "{family} {q}: {p}");
            }
        }
    }
}
