//! Radau IIA with three stages, order 5 (Hairer and Wanner IV.8): collocation at c₁, c₂, 1, simplified Newton
//! decoupled into one real and one complex system by the eigenvectors of A⁻¹, predictive step control.

use super::control::{
    Controller, Core, Driver, FAR, Failure, Method, Trail, eval_rhs, integrator_by_driver, worst, wrms,
};
use super::iteration::{IterationMatrix, Jacobian, NOISE};
use super::{OdeSystem, Options, Restart};
use crate::linear::C64;

const ITERATIONS: usize = 7;

/// T and T⁻¹ with T⁻¹ A⁻¹ T = diag(γ̂, [α̂ −β̂; β̂ α̂]), digits as published.
#[allow(clippy::excessive_precision)]
const T: [[f64; 3]; 3] = [
    [9.123_239_487_089_294_279_2E-2, -0.141_255_295_020_954_208_43, -3.002_919_410_514_742_449_2E-2],
    [0.241_717_932_707_107_018_96, 0.204_129_352_293_799_931_99, 0.382_942_112_757_261_937_79],
    [0.966_048_182_615_092_936_19, 1.0, 0.0],
];
#[allow(clippy::excessive_precision)]
const TI: [[f64; 3]; 3] = [
    [4.325_579_890_063_155_351_0, 0.339_199_251_815_809_869_54, 0.541_770_539_935_874_871_19],
    [-4.178_718_591_551_904_727_3, -0.327_682_820_761_062_387_08, 0.476_623_554_500_550_451_96],
    [-0.502_872_634_945_786_875_95, 2.571_926_949_855_605_429_2, -0.596_039_204_828_224_924_97],
];

pub(crate) struct Collocation {
    c: [f64; 3],
    real: f64,
    complex: C64,
    /// Weights of the error estimate.
    dd: [f64; 3],
    /// Power coefficients of the collocation polynomial from z₁, z₂, z₃.
    vandermonde: [[f64; 3]; 3],
    z: [Vec<f64>; 3],
    w: [Vec<f64>; 3],
    f: [Vec<f64>; 3],
    rhs: Vec<C64>,
    y: Vec<f64>,
    jac: Jacobian,
    e1: IterationMatrix<f64>,
    e2: IterationMatrix<C64>,
    factored: f64,
    jac_valid: bool,
    jac_current: bool,
    history: bool,
    theta: f64,
    faccon: f64,
    iterations: usize,
    first: bool,
    after_rejection: bool,
    /// The estimate is of order 3, the solution of order 5: what the estimate may exceed the tolerance by.
    slack: f64,
    trail: Trail,
}

impl Collocation {
    fn new(n: usize) -> Self {
        let s6 = 6f64.sqrt();
        let (c81, c9) = (81f64.cbrt(), 9f64.cbrt());
        let (alpha, beta) = ((12.0 - c81 + c9) / 60.0, (c81 + c9) * 3f64.sqrt() / 60.0);
        let cno = alpha * alpha + beta * beta;
        let c = [(4.0 - s6) / 10.0, (4.0 + s6) / 10.0, 1.0];
        // Column i: coefficients of s, s², s³ of the cubic that is 1 at c_i and 0 at 0 and the other nodes.
        let mut vandermonde = [[0.0; 3]; 3];
        for i in 0..3 {
            let (a, b) = (c[(i + 1) % 3], c[(i + 2) % 3]);
            let d = c[i] * (c[i] - a) * (c[i] - b);
            vandermonde[0][i] = a * b / d;
            vandermonde[1][i] = -(a + b) / d;
            vandermonde[2][i] = 1.0 / d;
        }
        let v = || vec![0.0; n];
        let v3 = || [v(), v(), v()];
        Collocation {
            c,
            real: 30.0 / (6.0 + c81 - c9),
            complex: C64::new(alpha / cno, beta / cno),
            dd: [-(13.0 + 7.0 * s6) / 3.0, (-13.0 + 7.0 * s6) / 3.0, -1.0 / 3.0],
            vandermonde,
            z: v3(),
            w: v3(),
            f: v3(),
            rhs: vec![C64::default(); n],
            y: v(),
            jac: Jacobian::new(n),
            e1: IterationMatrix::new(),
            e2: IterationMatrix::new(),
            factored: 0.0,
            jac_valid: false,
            jac_current: false,
            history: false,
            theta: 0.0,
            faccon: 1.0,
            iterations: 0,
            first: true,
            after_rejection: false,
            slack: 1.0,
            trail: Trail::new(n),
        }
    }

    fn prepare(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64) -> Result<(), Failure> {
        if !self.jac_valid {
            self.jac.eval(sys, &mut core.stats, core.t, &core.x, &core.dx, &core.w, h)?;
            (self.jac_valid, self.jac_current, self.factored) = (true, true, 0.0);
        }
        if self.factored != h {
            self.factored = 0.0;
            self.e1.factor(&self.jac.matrix, self.real / h, &core.w, &mut core.stats)?;
            self.e1.see_growth(core)?;
            let sigma = C64::new(self.complex.re / h, self.complex.im / h);
            self.e2.factor(&self.jac.matrix, sigma, &core.w, &mut core.stats)?;
            self.factored = h;
            self.faccon = 1.0;
        }
        Ok(())
    }

    fn newton(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64) -> Result<(), Failure> {
        let n = core.n;
        self.prepare(sys, core, h)?;
        for s in 0..3 {
            if self.history {
                core.poly.eval(core.t + self.c[s] * h, &mut self.z[s]);
                self.z[s].iter_mut().zip(&core.x).for_each(|(z, x)| *z -= x);
            } else {
                self.z[s].fill(0.0);
            }
        }
        for i in 0..n {
            for s in 0..3 {
                self.w[s][i] = TI[s][0] * self.z[0][i] + TI[s][1] * self.z[1][i] + TI[s][2] * self.z[2][i];
            }
        }
        // As RADAU5: estimate against rtol' = rtol^(2/3)/10 where that is larger.
        self.slack = (10.0 * core.opts.rtol.cbrt()).min(1.0);
        let rtol = (core.opts.rtol / self.slack).max(1e-14);
        let tol = (10.0 * f64::EPSILON / rtol).max(rtol.sqrt().min(0.03));
        self.faccon = self.faccon.max(f64::EPSILON).powf(0.8);
        self.theta = 1e-3;
        let (mut del_old, mut thq_old) = (0.0, 0.0f64);
        for m in 0..ITERATIONS {
            core.stats.newton_iters += 1;
            self.iterations = m + 1;
            for s in 0..3 {
                for i in 0..n {
                    self.y[i] = core.x[i] + self.z[s][i];
                }
                eval_rhs(sys, &mut core.stats, core.t + self.c[s] * h, &self.y, &mut self.f[s])?;
            }
            let (re, im, real) = (self.complex.re / h, self.complex.im / h, self.real / h);
            for i in 0..n {
                let (f0, f1, f2) = (self.f[0][i], self.f[1][i], self.f[2][i]);
                let tf = TI.map(|r| r[0] * f0 + r[1] * f1 + r[2] * f2);
                let (w1, w2, w3) = (self.w[0][i], self.w[1][i], self.w[2][i]);
                self.y[i] = tf[0] - real * w1;
                self.rhs[i] = C64::new(tf[1] - (re * w2 - im * w3), tf[2] - (re * w3 + im * w2));
            }
            self.e1.solve(&mut self.y);
            self.e2.solve(&mut self.rhs);
            let mut sum = 0.0;
            for i in 0..n {
                let d = [self.y[i], self.rhs[i].re, self.rhs[i].im];
                for s in 0..3 {
                    self.w[s][i] += d[s];
                    sum += (d[s] * core.w[i]).powi(2);
                }
                let (w1, w2, w3) = (self.w[0][i], self.w[1][i], self.w[2][i]);
                for s in 0..3 {
                    self.z[s][i] = T[s][0] * w1 + T[s][1] * w2 + T[s][2] * w3;
                }
            }
            let del = self.slack * (sum / (3 * n) as f64).sqrt();
            if !del.is_finite() {
                break;
            }
            if m > 0 {
                let thq = del / del_old;
                self.theta = if m == 1 { thq } else { (thq * thq_old).sqrt() };
                thq_old = thq;
                if self.theta >= 0.99 {
                    break;
                }
                self.faccon = self.theta / (1.0 - self.theta);
                // What would be left after the last iteration: give up early if too much.
                if self.faccon * del * self.theta.powi((ITERATIONS - 1 - m) as i32) > 10.0 * tol {
                    break;
                }
            }
            del_old = del.max(f64::EPSILON);
            // An old matrix that is far too large makes corrections that are far too small: how fast they shrink tells.
            let seen = m > 0 || self.jac_current || del <= NOISE;
            if seen && self.faccon * del <= tol {
                return Ok(());
            }
        }
        Err(Failure::Newton { component: worst(&self.y, &core.w) })
    }
}

impl Method for Collocation {
    fn name(&self) -> &'static str {
        "radau"
    }
    fn order(&self) -> usize {
        5
    }
    fn error_power(&self) -> f64 {
        4.0
    }
    fn controller(&self) -> Controller {
        Controller::Predictive
    }
    fn degree(&self) -> usize {
        4
    }
    fn safety(&self) -> f64 {
        let k = 2.0 * ITERATIONS as f64;
        0.9 * (1.0 + k) / (self.iterations as f64 + k)
    }
    fn rejected(&mut self) {
        self.after_rejection = true;
    }

    fn settle(&mut self, v: &mut [f64]) {
        self.e1.solve(v);
    }
    fn start(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, kind: Restart) {
        let new = self.jac.set_up(sys);
        if new {
            self.e1.set_up(&self.jac.matrix, &core.opts);
            self.e2.set_up(&self.jac.matrix, &core.opts);
        }
        if new || kind != Restart::Hot {
            (self.jac_valid, self.factored) = (false, 0.0);
        }
        (self.jac_current, self.history, self.first) = (false, false, true);
        self.trail.forget();
    }

    fn attempt(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64) -> Result<f64, Failure> {
        while let Err(e) = self.newton(sys, core, h) {
            self.factored = 0.0;
            if !matches!(e, Failure::Newton { .. }) || self.jac_current {
                return Err(e);
            }
            self.jac_valid = false;
        }
        let n = core.n;
        for i in 0..n {
            core.x_new[i] = core.x[i] + self.z[2][i];
            self.y[i] = (self.dd[0] * self.z[0][i] + self.dd[1] * self.z[1][i] + self.dd[2] * self.z[2][i]) / h;
            core.err[i] = self.y[i] + core.dx[i];
        }
        self.e1.solve(&mut core.err);
        let mut norm = self.slack * wrms(&core.err, &core.w);
        if norm >= 1.0 && (self.first || self.after_rejection) {
            for i in 0..n {
                self.w[0][i] = core.x[i] + core.err[i];
            }
            eval_rhs(sys, &mut core.stats, core.t, &self.w[0], &mut self.f[0])?;
            for i in 0..n {
                core.err[i] = self.f[0][i] + self.y[i];
            }
            self.e1.solve(&mut core.err);
            norm = self.slack * wrms(&core.err, &core.w);
        }
        Ok(norm.max(1e-10))
    }

    fn finish(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, _: f64, t_new: f64) -> Result<(), Failure> {
        eval_rhs(sys, &mut core.stats, t_new, &core.x_new, &mut core.dx_new)?;
        // The ends are more accurate than the stages: their cubic is taken, raised by the step before, unless slopes are
        // those of stiff components, which tell nothing; there the collocation polynomial, raised likewise once transients are over.
        core.poly.set_hermite(core.t, t_new, &core.x, &core.dx, &core.x_new, &core.dx_new);
        self.trail.raise(core, t_new);
        let past = self.trail.behind(core, t_new).filter(|_| !core.young());
        let h = t_new - core.t;
        for i in 0..core.n {
            let c = |j: usize| {
                let v = &self.vandermonde[j];
                v[0] * self.z[0][i] + v[1] * self.z[1][i] + v[2] * self.z[2][i]
            };
            let c = [c(0), c(1), c(2)];
            let middle = core.x[i] + 0.5 * c[0] + 0.25 * c[1] + 0.125 * c[2];
            let cubic = 0.5 * (core.x[i] + core.x_new[i]) + 0.125 * h * (core.dx[i] - core.dx_new[i]);
            if (middle - cubic).abs() * core.w[i] <= FAR {
                continue;
            }
            core.doubt = true;
            let mut all = [c[0], c[1], c[2], 0.0];
            if let Some((before, r)) = past {
                // b s (s − c₁)(s − c₂)(s − 1), zero where the cubic is known.
                let cubic = -r * (c[0] - r * (c[1] - r * c[2]));
                let b = (before[i] - core.x[i] - cubic) / (r * (r + self.c[0]) * (r + self.c[1]) * (r + 1.0));
                let (sum, product) = (self.c[0] + self.c[1], self.c[0] * self.c[1]);
                [-product, product + sum, -1.0 - sum, 1.0].iter().zip(&mut all).for_each(|(k, c)| *c += b * k);
            }
            (1..=core.poly.degree()).for_each(|j| core.poly.coefficient_mut(j)[i] = all[j - 1]);
        }
        (self.history, self.first, self.after_rejection, self.jac_current) = (true, false, false, false);
        if self.theta > 1e-3 {
            self.jac_valid = false;
        }
        Ok(())
    }
}

/// Radau IIA of order 5.
pub struct Radau(Driver<Collocation>);

impl Radau {
    /// For n states.
    pub fn new(n: usize, opts: Options) -> Self {
        Radau(Driver::new(n, opts, Collocation::new(n)))
    }
}

integrator_by_driver!(Radau);
