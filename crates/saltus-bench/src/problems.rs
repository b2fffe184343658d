//! The problems, formula for formula those of `sundials.c`.

use saltus_solver::dae::{DaeBdf, DaeOptions, DaeSystem};
use saltus_solver::linear::Pattern;
use saltus_solver::ode::*;
use saltus_solver::roots::{CrossingOptions, Sign, poly};

/// What one integration gave.
pub struct Run {
    /// Accepted steps.
    pub steps: usize,
    /// Evaluations of f or F.
    pub evaluations: usize,
    /// Jacobians.
    pub jacobians: usize,
    /// Values at the end.
    pub values: Vec<f64>,
}

fn outcome(stats: &Stats, values: Vec<f64>) -> Run {
    Run { steps: stats.steps, evaluations: stats.rhs_evals, jacobians: stats.jac_evals, values }
}

/// Integrates to t1 with the named method.
fn integrate(method: &str, sys: &mut dyn OdeSystem, opts: Options, x0: &[f64], t1: f64) -> Result<Run, StepError> {
    let mut m = make_integrator(method, x0.len(), opts).expect("a known method");
    m.restart(sys, 0.0, x0, Restart::Cold)?;
    while m.step(sys, t1)? == StepOutcome::Step {}
    Ok(outcome(m.stats(), m.x().to_vec()))
}

fn integrate_dae(sys: &mut dyn DaeSystem, opts: Options, x0: &[f64], xp0: &[f64], t1: f64) -> Result<Run, StepError> {
    let mut m = DaeBdf::new(x0.len(), DaeOptions::new(opts));
    m.restart(sys, 0.0, x0, xp0, Restart::Cold)?;
    while m.step(sys, t1)? == StepOutcome::Step {}
    Ok(outcome(m.stats(), m.x().to_vec()))
}

// ---- Robertson

struct Robertson;

impl OdeSystem for Robertson {
    fn dim(&self) -> usize {
        3
    }
    fn rhs(&mut self, _: f64, x: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
        f[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
        f[2] = 3e7 * x[1] * x[1];
        f[1] = -f[0] - f[2];
        Ok(())
    }
    fn jacobian(&mut self, _: f64, x: &[f64], jac: &mut JacobianMatrix) -> Result<bool, EvalError> {
        let a = [-0.04, 1e4 * x[2], 1e4 * x[1]];
        let c = [0.0, 6e7 * x[1], 0.0];
        let v = jac.values_mut();
        for k in 0..3 {
            (v[3 * k], v[3 * k + 1], v[3 * k + 2]) = (a[k], -a[k] - c[k], c[k]);
        }
        Ok(true)
    }
}

fn robertson_options(rtol: f64) -> Options {
    let mut o = Options::new(3, rtol, 0.0);
    o.atol = vec![1e-9 * rtol, 1e-15 * rtol, 1e-2 * rtol];
    o
}

/// Robertson's kinetics to t = 1e11.
pub fn robertson(method: &str, rtol: f64) -> Result<Run, StepError> {
    integrate(method, &mut Robertson, robertson_options(rtol), &[1.0, 0.0, 0.0], 1e11)
}

struct RobertsonDae;

impl DaeSystem for RobertsonDae {
    fn dim(&self) -> usize {
        3
    }
    fn residual(&mut self, _: f64, x: &[f64], p: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        r[0] = p[0] + 0.04 * x[0] - 1e4 * x[1] * x[2];
        r[1] = p[1] - 0.04 * x[0] + 1e4 * x[1] * x[2] + 3e7 * x[1] * x[1];
        r[2] = x[0] + x[1] + x[2] - 1.0;
        Ok(())
    }
    fn jacobian(&mut self, _: f64, x: &[f64], _: &[f64], cj: f64, jac: &mut JacobianMatrix) -> Result<bool, EvalError> {
        jac.values_mut().copy_from_slice(&[
            cj + 0.04,
            -0.04,
            1.0,
            -1e4 * x[2],
            cj + 1e4 * x[2] + 6e7 * x[1],
            1.0,
            -1e4 * x[1],
            1e4 * x[1],
            1.0,
        ]);
        Ok(true)
    }
    fn is_differential(&self, i: usize) -> bool {
        i < 2
    }
    fn is_algebraic_equation(&self, i: usize) -> bool {
        i == 2
    }
}

/// The same with its conservation law.
pub fn robertson_dae(rtol: f64) -> Result<Run, StepError> {
    integrate_dae(&mut RobertsonDae, robertson_options(rtol), &[1.0, 0.0, 0.0], &[-0.04, 0.04, 0.0], 1e11)
}

// ---- Reaction and diffusion on a square grid

const G: usize = 100;
const DIFF: f64 = 0.02 * ((G + 1) * (G + 1)) as f64;

struct Diffusion(Pattern);

impl Diffusion {
    fn new() -> Diffusion {
        let (mut ptr, mut rows) = (vec![0], Vec::new());
        for j in 0..G {
            for i in 0..G {
                let k = j * G + i;
                rows.extend((j > 0).then(|| k - G));
                rows.extend((i > 0).then(|| k - 1));
                rows.push(k);
                rows.extend((i < G - 1).then_some(k + 1));
                rows.extend((j < G - 1).then_some(k + G));
                ptr.push(rows.len());
            }
        }
        Diffusion(Pattern::from_parts(G * G, ptr, rows))
    }
}

impl OdeSystem for Diffusion {
    fn dim(&self) -> usize {
        G * G
    }
    fn rhs(&mut self, t: f64, x: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
        let edge = 1.0 + 0.5 * (6.0 * t).sin();
        for j in 0..G {
            for i in 0..G {
                let k = j * G + i;
                let v = x[k];
                let west = if i > 0 { x[k - 1] } else { edge };
                let east = if i < G - 1 { x[k + 1] } else { 0.0 };
                let south = if j > 0 { x[k - G] } else { 0.0 };
                let north = if j < G - 1 { x[k + G] } else { 0.0 };
                f[k] = DIFF * (west + east + south + north - 4.0 * v) + 10.0 * v * v * (1.0 - v);
            }
        }
        Ok(())
    }
    fn jacobian(&mut self, _: f64, x: &[f64], jac: &mut JacobianMatrix) -> Result<bool, EvalError> {
        let (rows, ptr) = (self.0.row_indices(), self.0.col_ptr());
        let v = jac.values_mut();
        for k in 0..G * G {
            for e in ptr[k]..ptr[k + 1] {
                v[e] = if rows[e] == k { -4.0 * DIFF + 10.0 * x[k] * (2.0 - 3.0 * x[k]) } else { DIFF };
            }
        }
        Ok(true)
    }
    fn sparsity(&self) -> Option<&Pattern> {
        Some(&self.0)
    }
}

/// u_t = D Δu + 10 u² (1 − u) on 100 × 100 nodes to t = 1.
pub fn diffusion(method: &str, rtol: f64) -> Result<Run, StepError> {
    let n = G * G;
    integrate(method, &mut Diffusion::new(), Options::new(n, rtol, rtol), &vec![0.0; n], 1.0)
}

// ---- A ladder of resistors, capacitors and diodes with cross connections

const N: usize = 1000;
const CROSS: usize = 37;

fn diode(v: f64) -> f64 {
    let a = v / 0.05;
    1e-6 * if a < 40.0 { a.exp() - 1.0 } else { 40f64.exp() * (a - 39.0) - 1.0 }
}

fn diode_slope(v: f64) -> f64 {
    let a = v / 0.05;
    1e-6 / 0.05 * if a < 40.0 { a.exp() } else { 40f64.exp() }
}

struct Circuit(Pattern);

impl Circuit {
    fn up(k: usize) -> bool {
        k >= CROSS && (k - CROSS).is_multiple_of(10)
    }
    fn down(k: usize) -> bool {
        k.is_multiple_of(10) && k + CROSS < N
    }
    fn new() -> Circuit {
        let (mut ptr, mut rows) = (vec![0], Vec::new());
        for k in 0..N {
            rows.extend(Self::up(k).then(|| k - CROSS));
            rows.extend((k > 0).then(|| k - 1));
            rows.push(k);
            rows.extend((k < N - 1).then_some(k + 1));
            rows.extend(Self::down(k).then_some(k + CROSS));
            ptr.push(rows.len());
        }
        Circuit(Pattern::from_parts(N, ptr, rows))
    }
}

impl DaeSystem for Circuit {
    fn dim(&self) -> usize {
        N
    }
    fn residual(&mut self, t: f64, v: &[f64], p: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        let source = 5.0 * (std::f64::consts::TAU * t).sin();
        for i in 0..N {
            let into = (if i > 0 { v[i - 1] } else { source }) - v[i];
            let out = if i < N - 1 { v[i] - v[i + 1] } else { v[i] };
            r[i] = out - into + 0.01 * v[i];
            if i % 3 != 2 {
                r[i] += 1e-3 * p[i];
            }
            if i % 5 == 0 {
                r[i] += diode(v[i]);
            }
        }
        for i in (0..N - CROSS).step_by(10) {
            let c = 0.1 * (v[i] - v[i + CROSS]);
            r[i] += c;
            r[i + CROSS] -= c;
        }
        Ok(())
    }
    fn jacobian(&mut self, _: f64, x: &[f64], _: &[f64], cj: f64, jac: &mut JacobianMatrix) -> Result<bool, EvalError> {
        let (rows, ptr) = (self.0.row_indices(), self.0.col_ptr());
        let v = jac.values_mut();
        for k in 0..N {
            for e in ptr[k]..ptr[k + 1] {
                v[e] = match rows[e].abs_diff(k) {
                    0 => {
                        let mut d = 2.01 + 0.1 * (f64::from(Self::up(k)) + f64::from(Self::down(k)));
                        if k % 3 != 2 {
                            d += 1e-3 * cj;
                        }
                        if k % 5 == 0 {
                            d += diode_slope(x[k]);
                        }
                        d
                    }
                    1 => -1.0,
                    _ => -0.1,
                };
            }
        }
        Ok(true)
    }
    fn sparsity(&self) -> Option<&Pattern> {
        Some(&self.0)
    }
    fn is_differential(&self, i: usize) -> bool {
        i % 3 != 2
    }
    fn is_algebraic_equation(&self, i: usize) -> bool {
        i % 3 == 2
    }
}

/// Two periods of a source at the end of the ladder.
pub fn circuit(rtol: f64) -> Result<Run, StepError> {
    integrate_dae(&mut Circuit::new(), Options::new(N, rtol, rtol), &[0.0; N], &[0.0; N], 2.0)
}

// ---- A hundred jumps

struct Jumps;

impl OdeSystem for Jumps {
    fn dim(&self) -> usize {
        3
    }
    fn rhs(&mut self, _: f64, x: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
        f[0] = 1.0 + 0.5 * x[1];
        f[1] = -1000.0 * (x[1] - x[2].sin());
        f[2] = 2.0 - x[2] * x[0];
        Ok(())
    }
    fn jacobian(&mut self, _: f64, x: &[f64], jac: &mut JacobianMatrix) -> Result<bool, EvalError> {
        let c = 1000.0 * x[2].cos();
        jac.values_mut().copy_from_slice(&[0.0, 0.0, -x[2], 0.5, -1000.0, 0.0, 0.0, c, -x[0]]);
        Ok(true)
    }
}

/// x[0] falls back to zero and x[2] rises by a half whenever x[0] reaches one; a hundred times.
pub fn jumps(method: &str, rtol: f64) -> Result<Run, StepError> {
    let mut m = make_integrator(method, 3, Options::new(3, rtol, rtol)).expect("a known method");
    let sys = &mut Jumps;
    let mut x = [0.0, 0.0, 1.0];
    m.restart(sys, 0.0, &x, Restart::Cold)?;
    let mut coeffs = Vec::new();
    let mut t = 0.0;
    for _ in 0..100 {
        loop {
            m.step(sys, 1e3)?;
            m.polynomial(0, &mut coeffs);
            coeffs[0] -= 1.0;
            let opts = CrossingOptions { tol: 0.0, touching: false, s_tol: 0.0 };
            if let Some(c) = poly::first_crossing(&coeffs, Sign::Negative, &opts) {
                t = m.t_prev() + c.s_after * (m.t() - m.t_prev());
                break;
            }
        }
        m.interpolate(t, &mut x);
        x[0] = 0.0;
        x[2] += 0.5;
        m.restart(sys, t, &x, Restart::Warm)?;
    }
    Ok(outcome(m.stats(), vec![t, x[1], x[2]]))
}
