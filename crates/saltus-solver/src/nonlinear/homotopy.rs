//! Predictor–corrector continuation of H(z, λ) = 0 from λ = 0 to λ = 1 along its arclength.
//!
//! The path is followed in u = (z, λ) with the tangent of the previous point as border, so turning points of λ
//! (folds) are passed. Predictor: u + h t. Corrector: Newton on H(u) = 0 together with tᵀ(u − u_pred) = 0. The step
//! grows when the corrector is fast and shrinks when it fails, leaves the domain, or the path bends by more than
//! about 30 degrees. All of it happens in scaled unknowns (nominal value, or the largest magnitude met so far).
//! (Allgower and Georg, Introduction to Numerical Continuation Methods, chapters 2, 3 and 6.)

use super::dense::Lu;
use super::newton::{NewtonOptions, NewtonWork, newton};
use super::{DomainError, NonlinearSystem, checked, finite_differences};

/// A family of systems H(z, λ) = 0 that is easy at λ = 0 and wanted at λ = 1.
pub trait Homotopy {
    /// The number of unknowns z and of equations.
    fn dim(&self) -> usize;

    /// Writes H(z, λ) to `r`; `Err` means outside the domain.
    fn residual(&mut self, z: &[f64], lambda: f64, r: &mut [f64]) -> Result<(), DomainError>;

    /// Writes the n × (n+1) matrix (∂H/∂z, ∂H/∂λ), column-major; `Ok(false)` asks for finite differences.
    fn jacobian(&mut self, z: &[f64], lambda: f64, jac: &mut [f64]) -> Result<bool, DomainError> {
        let _ = (z, lambda, jac);
        Ok(false)
    }

    /// Whether a point of the path lies in another region than its start, where other equations hold: [`follow`] ends at the
    /// surface between them.
    fn leaves(&mut self, z: &[f64], lambda: f64) -> bool {
        let _ = (z, lambda);
        false
    }
}

/// Where a path has led to.
#[derive(Debug, Clone, PartialEq)]
pub enum Reached {
    /// λ = 1.
    End(HomotopyReport),
    /// A little beyond the surface of its region.
    Surface {
        /// λ there.
        lambda: f64,
        /// Steps, rejected ones included, and how many of them led on.
        report: HomotopyReport,
    },
}

/// Arclength beyond a surface at which a path ends there.
const BEYOND: f64 = 1e-7;

/// Step control of [`continuation`].
#[derive(Debug, Clone, PartialEq)]
pub struct HomotopyOptions {
    /// First step in scaled arclength.
    pub initial_step: f64,
    /// Largest step.
    pub max_step: f64,
    /// Smallest step before giving up.
    pub min_step: f64,
    /// The limit on steps, rejected ones included.
    pub max_steps: usize,
    /// Accuracy of intermediate points relative to the scales.
    pub path_tol: f64,
    /// Scaling, bounds and the accuracy of the first and last point.
    pub newton: NewtonOptions,
}

impl Default for HomotopyOptions {
    fn default() -> Self {
        Self {
            initial_step: 0.05,
            max_step: 1.0,
            min_step: 1e-9,
            max_steps: 1000,
            path_tol: 1e-6,
            newton: NewtonOptions::default(),
        }
    }
}

/// The course of a successful continuation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HomotopyReport {
    /// Accepted steps.
    pub steps: usize,
    /// Rejected steps.
    pub rejected: usize,
    /// Turning points of λ that were passed.
    pub folds: usize,
    /// Evaluations of H.
    pub residuals: usize,
}

/// Why a continuation ended early.
#[derive(Debug, Clone, PartialEq)]
pub enum HomotopyFailure {
    /// The problem at λ = 0 could not be solved, or no direction leads away from it.
    Start,
    /// The step became too small or there were too many.
    Stuck {
        /// λ of the last point on the path.
        lambda: f64,
        /// That point.
        z: Vec<f64>,
        /// Steps made.
        steps: usize,
    },
    /// The path turned back to λ = 0 or ran away to infinity.
    Lost {
        /// The largest λ reached.
        lambda: f64,
        /// Steps made.
        steps: usize,
    },
}

/// The system at one fixed λ.
struct AtLambda<'a, H: ?Sized> {
    h: &'a mut H,
    lambda: f64,
    wide: Vec<f64>,
}

impl<H: Homotopy + ?Sized> NonlinearSystem for AtLambda<'_, H> {
    fn dim(&self) -> usize {
        self.h.dim()
    }

    fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Result<(), DomainError> {
        self.h.residual(z, self.lambda, r)
    }

    fn jacobian(&mut self, z: &[f64], jac: &mut [f64]) -> Result<bool, DomainError> {
        let n = self.h.dim();
        self.wide.resize(n * (n + 1), 0.0);
        let available = self.h.jacobian(z, self.lambda, &mut self.wide)?;
        jac[..n * n].copy_from_slice(&self.wide[..n * n]);
        Ok(available)
    }
}

/// Follows H(z, λ) = 0 from a point (z, `lambda`) on it, with λ rising (`direction` 1) or falling (−1) at first, to λ = 1 or to
/// the surface of the region ([`Homotopy::leaves`]). `z` becomes that point; on failure the last one on the path.
pub fn follow<H: Homotopy + ?Sized>(
    h: &mut H,
    z: &mut [f64],
    lambda: f64,
    direction: f64,
    opts: &HomotopyOptions,
) -> Result<Reached, HomotopyFailure> {
    let n = h.dim();
    if n == 0 {
        return Ok(Reached::End(HomotopyReport::default()));
    }
    Path::new(h, opts, n).follow(&mut z[..n], lambda, direction)
}

/// Follows H(z, λ) = 0 from λ = 0, where `z` is a guess, to λ = 1, where `z` becomes the solution.
///
/// On failure `z` holds the last point on the path.
pub fn continuation<H: Homotopy + ?Sized>(
    h: &mut H,
    z: &mut [f64],
    opts: &HomotopyOptions,
) -> Result<HomotopyReport, HomotopyFailure> {
    let n = h.dim();
    if n == 0 {
        return Ok(HomotopyReport::default());
    }
    let z = &mut z[..n];
    let mut work = NewtonWork::new();
    let mut first = AtLambda { h, lambda: 0.0, wide: Vec::new() };
    newton(&mut first, z, &opts.newton, &mut work).map_err(|_| HomotopyFailure::Start)?;
    let start = z.to_vec();
    let end = |r: Reached| match r {
        Reached::End(report) | Reached::Surface { report, .. } => report,
    };
    let forward = Path::new(h, opts, n).follow(z, 0.0, 1.0).map(end);
    match forward {
        // The tangent at the start may be vertical, and then either direction may be the right one.
        Err(HomotopyFailure::Lost { lambda, steps }) if lambda < 1e-3 || steps <= 2 => {
            let reached = z.to_vec();
            z.copy_from_slice(&start);
            Path::new(h, opts, n).follow(z, 0.0, -1.0).map(end).inspect_err(|_| z.copy_from_slice(&reached))
        }
        other => other,
    }
}

struct Path<'a, H: ?Sized> {
    h: &'a mut H,
    opts: &'a HomotopyOptions,
    n: usize,
    /// Scales of (z, λ).
    scale: Vec<f64>,
    jac: Vec<f64>,
    bordered: Vec<f64>,
    ones: Vec<f64>,
    r: Vec<f64>,
    shifted: Vec<f64>,
    rhs: Vec<f64>,
    lu: Lu,
    report: HomotopyReport,
}

impl<'a, H: Homotopy + ?Sized> Path<'a, H> {
    fn new(h: &'a mut H, opts: &'a HomotopyOptions, n: usize) -> Self {
        Self {
            h,
            opts,
            n,
            scale: vec![1.0; n + 1],
            jac: vec![0.0; n * (n + 1)],
            bordered: vec![0.0; (n + 1) * (n + 1)],
            ones: vec![1.0; n + 1],
            r: vec![0.0; n],
            shifted: vec![0.0; n],
            rhs: vec![0.0; n + 1],
            lu: Lu::new(),
            report: HomotopyReport::default(),
        }
    }

    /// Evaluates H and its scaled Jacobian at the scaled point v.
    fn evaluate(&mut self, v: &[f64]) -> Result<(), DomainError> {
        let n = self.n;
        let mut u: Vec<f64> = v.iter().zip(&self.scale).map(|(v, s)| v * s).collect();
        self.report.residuals += 1;
        checked(self.h.residual(&u[..n], u[n], &mut self.r), &self.r)?;
        if !self.h.jacobian(&u[..n], u[n], &mut self.jac)? {
            let h = &mut *self.h;
            let scale = &self.scale;
            self.report.residuals += finite_differences(
                |u, r| h.residual(&u[..n], u[n], r),
                &mut u,
                &self.r,
                |j, u_j| Some(scale[j].max(u_j.abs())),
                |_| (f64::NEG_INFINITY, f64::INFINITY),
                &mut self.shifted,
                &mut self.jac,
            )?;
        }
        if self.jac.iter().any(|v| !v.is_finite()) {
            return Err(DomainError);
        }
        for (column, s) in self.jac.chunks_exact_mut(n).zip(&self.scale) {
            for v in column {
                *v *= s;
            }
        }
        Ok(())
    }

    /// Factors the Jacobian bordered by the row t.
    fn border(&mut self, t: &[f64]) -> bool {
        let n = self.n;
        for j in 0..=n {
            self.bordered[j * (n + 1)..j * (n + 1) + n].copy_from_slice(&self.jac[j * n..(j + 1) * n]);
            self.bordered[j * (n + 1) + n] = t[j];
        }
        self.lu.factor(n + 1, &self.bordered, &self.ones).is_ok()
    }

    /// The unit tangent at the point just evaluated, with t·border > 0.
    fn tangent(&mut self, border: &[f64]) -> Option<Vec<f64>> {
        if !self.border(border) {
            return None;
        }
        let mut t = vec![0.0; self.n + 1];
        t[self.n] = 1.0;
        self.lu.solve(&mut t);
        let norm = t.iter().map(|v| v * v).sum::<f64>().sqrt();
        if !(norm.is_finite() && norm > 0.0) {
            return None;
        }
        t.iter_mut().for_each(|v| *v /= norm);
        Some(t)
    }

    /// Newton onto the path in the hyperplane through v orthogonal to t. Returns the number of iterations.
    fn correct(&mut self, v: &mut [f64], t: &[f64]) -> Option<usize> {
        let n = self.n;
        let predicted = v.to_vec();
        let mut previous = f64::INFINITY;
        for iteration in 1..=8 {
            self.evaluate(v).ok()?;
            if !self.border(t) {
                return None;
            }
            for i in 0..n {
                self.rhs[i] = -self.r[i];
            }
            self.rhs[n] = -t.iter().zip(v.iter()).zip(&predicted).map(|((t, v), p)| t * (v - p)).sum::<f64>();
            let mut rhs = std::mem::take(&mut self.rhs);
            self.lu.solve(&mut rhs);
            let size = rhs.iter().fold(0.0f64, |s, d| s.max(d.abs()));
            for j in 0..=n {
                v[j] += rhs[j];
            }
            self.rhs = rhs;
            if !size.is_finite() || (iteration > 1 && size > 0.7 * previous) {
                return None;
            }
            if size <= self.opts.path_tol {
                return Some(iteration);
            }
            previous = size;
        }
        None
    }

    fn rescale(&mut self, v: &mut [f64], t: &mut [f64]) {
        let n = self.n;
        for j in 0..n {
            let magnitude = (v[j] * self.scale[j]).abs();
            if magnitude > 2.0 * self.scale[j] {
                let factor = self.scale[j] / magnitude;
                self.scale[j] = magnitude;
                v[j] *= factor;
                t[j] *= factor;
            }
        }
        let norm = t.iter().map(|v| v * v).sum::<f64>().sqrt();
        if norm > 0.0 {
            t.iter_mut().for_each(|v| *v /= norm);
        }
    }

    fn follow(mut self, z: &mut [f64], lambda: f64, direction: f64) -> Result<Reached, HomotopyFailure> {
        let n = self.n;
        for j in 0..n {
            self.scale[j] = self.opts.newton.weight(j, z[j]);
        }
        let mut v: Vec<f64> = (0..n).map(|j| z[j] / self.scale[j]).collect();
        v.push(lambda);
        self.evaluate(&v).map_err(|_| HomotopyFailure::Start)?;
        let mut border = vec![0.0; n + 1];
        border[n] = direction;
        let first = self.tangent(&border).filter(|t| t[n].abs() > 1e-12).or_else(|| {
            // A vertical start: any generic border finds the direction.
            for (j, b) in border.iter_mut().enumerate() {
                *b = direction * (1.0 + 0.37 * ((j * 7 % 11) as f64 / 11.0)) / ((n + 1) as f64).sqrt();
            }
            self.tangent(&border)
        });
        let mut t = first.ok_or(HomotopyFailure::Start)?;
        let mut step = self.opts.initial_step;
        let mut furthest = lambda;
        let mut work = NewtonWork::new();
        let write = |v: &[f64], scale: &[f64], z: &mut [f64]| {
            for j in 0..n {
                z[j] = v[j] * scale[j];
            }
        };
        while self.report.steps + self.report.rejected < self.opts.max_steps {
            if step < self.opts.min_step {
                break;
            }
            let mut next: Vec<f64> = v.iter().zip(&t).map(|(v, t)| v + step * t).collect();
            let corrected = self.correct(&mut next, &t);
            let accepted = corrected.and_then(|iterations| {
                self.evaluate(&next).ok()?;
                let new_t = self.tangent(&t)?;
                let cosine: f64 = new_t.iter().zip(&t).map(|(a, b)| a * b).sum();
                (cosine > 0.85).then_some((iterations, new_t, cosine))
            });
            let Some((iterations, mut new_t, cosine)) = accepted else {
                self.report.rejected += 1;
                step *= 0.4;
                continue;
            };
            let there: Vec<f64> = next.iter().zip(&self.scale).map(|(v, s)| v * s).collect();
            if self.h.leaves(&there[..n], next[n]) {
                if step > BEYOND {
                    self.report.rejected += 1;
                    step *= 0.5;
                    continue;
                }
                z.copy_from_slice(&there[..n]);
                return Ok(Reached::Surface { lambda: next[n], report: self.report });
            }
            if next[n] >= 1.0 {
                // λ = 1 lies within this step: solve there from the interpolated point.
                let share = ((1.0 - v[n]) / (next[n] - v[n])).clamp(0.0, 1.0);
                let mut end: Vec<f64> = (0..n).map(|j| (v[j] + share * (next[j] - v[j])) * self.scale[j]).collect();
                let mut last = AtLambda { h: &mut *self.h, lambda: 1.0, wide: Vec::new() };
                match newton(&mut last, &mut end, &self.opts.newton, &mut work) {
                    Ok(done) => {
                        self.report.residuals += done.residuals;
                        self.report.steps += 1;
                        z.copy_from_slice(&end);
                        return Ok(Reached::End(self.report));
                    }
                    Err(_) => {
                        self.report.rejected += 1;
                        step *= 0.4;
                        continue;
                    }
                }
            }
            self.report.steps += 1;
            if new_t[n] * t[n] < 0.0 {
                self.report.folds += 1;
            }
            v = next;
            furthest = furthest.max(v[n]);
            write(&v, &self.scale, z);
            let far = v.iter().any(|x| !x.is_finite()) || self.scale.iter().any(|s| *s > 1e100);
            if v[n] < -0.05 || far {
                return Err(HomotopyFailure::Lost { lambda: furthest, steps: self.report.steps });
            }
            self.rescale(&mut v, &mut new_t);
            t = new_t;
            if iterations <= 3 && cosine > 0.97 {
                step = (step * 2.0).min(self.opts.max_step);
            } else if iterations >= 6 {
                step *= 0.6;
            }
        }
        Err(HomotopyFailure::Stuck { lambda: v[n], z: z.to_vec(), steps: self.report.steps })
    }
}

/// Newton homotopy H = F(z) − (1 − λ) F(z₀).
pub struct NewtonHomotopy<'a, S: ?Sized> {
    sys: &'a mut S,
    f0: Vec<f64>,
}

impl<'a, S: NonlinearSystem + ?Sized> NewtonHomotopy<'a, S> {
    /// The homotopy anchored at z₀.
    pub fn new(sys: &'a mut S, z0: &[f64]) -> Result<Self, DomainError> {
        let mut f0 = vec![0.0; sys.dim()];
        checked(sys.residual(&z0[..f0.len()], &mut f0), &f0)?;
        Ok(Self { sys, f0 })
    }
}

impl<S: NonlinearSystem + ?Sized> Homotopy for NewtonHomotopy<'_, S> {
    fn dim(&self) -> usize {
        self.f0.len()
    }

    fn residual(&mut self, z: &[f64], lambda: f64, r: &mut [f64]) -> Result<(), DomainError> {
        self.sys.residual(z, r)?;
        for (r, f) in r.iter_mut().zip(&self.f0) {
            *r -= (1.0 - lambda) * f;
        }
        Ok(())
    }

    fn jacobian(&mut self, z: &[f64], _lambda: f64, jac: &mut [f64]) -> Result<bool, DomainError> {
        let n = self.f0.len();
        jac.fill(0.0);
        let available = self.sys.jacobian(z, &mut jac[..n * n])?;
        jac[n * n..].copy_from_slice(&self.f0);
        Ok(available)
    }
}

/// Fixed-point homotopy H_i = λ F_i(z) / S_i ± (1 − λ) (z_i − z₀_i) / w_i.
pub struct FixedPointHomotopy<'a, S: ?Sized> {
    sys: &'a mut S,
    z0: Vec<f64>,
    row: Vec<f64>,
    weight: Vec<f64>,
    sign: f64,
}

impl<'a, S: NonlinearSystem + ?Sized> FixedPointHomotopy<'a, S> {
    /// The homotopy anchored at z₀; `row` and `weight` are the scales of equations and unknowns, `sign` is ±1.
    pub fn new(sys: &'a mut S, z0: &[f64], row: &[f64], weight: &[f64], sign: f64) -> Self {
        Self { sys, z0: z0.to_vec(), row: row.to_vec(), weight: weight.to_vec(), sign }
    }
}

impl<S: NonlinearSystem + ?Sized> Homotopy for FixedPointHomotopy<'_, S> {
    fn dim(&self) -> usize {
        self.z0.len()
    }

    fn residual(&mut self, z: &[f64], lambda: f64, r: &mut [f64]) -> Result<(), DomainError> {
        self.sys.residual(z, r)?;
        for i in 0..self.z0.len() {
            r[i] = lambda * r[i] / self.row[i] + self.sign * (1.0 - lambda) * (z[i] - self.z0[i]) / self.weight[i];
        }
        Ok(())
    }

    fn jacobian(&mut self, z: &[f64], lambda: f64, jac: &mut [f64]) -> Result<bool, DomainError> {
        let n = self.z0.len();
        jac.fill(0.0);
        if !self.sys.jacobian(z, &mut jac[..n * n])? {
            return Ok(false);
        }
        let (square, last) = jac.split_at_mut(n * n);
        self.sys.residual(z, last)?;
        for i in 0..n {
            for j in 0..n {
                square[i + j * n] *= lambda / self.row[i];
            }
            square[i + i * n] += self.sign * (1.0 - lambda) / self.weight[i];
            last[i] = last[i] / self.row[i] - self.sign * (z[i] - self.z0[i]) / self.weight[i];
        }
        Ok(true)
    }
}
