//! Levenberg–Marquardt and Powell's dogleg on the scaled residual f_i = F_i / S_i in the scaled unknowns z_j / w_j.
//!
//! Both serve [`solve`](super::solve()) to get near a root from where Newton cannot: they only lower ‖f‖ and leave the last
//! digits to Newton.

use faer::linalg::solvers::SolveCore;
use faer::{Mat, MatRef, Side};

use super::dense::{Lu, cholesky, cholesky_solve};
use super::newton::{NewtonOptions, jacobian, row_scales, worst};
use super::{DomainError, NonlinearSystem, checked};

/// Where a descent method ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Descent {
    pub iterations: usize,
    pub residuals: usize,
    /// Largest scaled residual.
    pub residual_norm: f64,
    /// Largest component of the last near-Gauss–Newton step relative to the unknowns' scales.
    pub last_step: f64,
}

/// A scaled view of the system at its current point.
struct Scaled<'a, S: ?Sized> {
    sys: &'a mut S,
    opts: &'a NewtonOptions,
    n: usize,
    z: Vec<f64>,
    w: Vec<f64>,
    s: Vec<f64>,
    r: Vec<f64>,
    /// Scaled Jacobian J_ij w_j / s_i.
    jac: Vec<f64>,
    tmp: Vec<f64>,
    residuals: usize,
}

impl<'a, S: NonlinearSystem + ?Sized> Scaled<'a, S> {
    fn new(sys: &'a mut S, z: &[f64], opts: &'a NewtonOptions) -> Result<Self, DomainError> {
        let n = sys.dim();
        let mut this = Self {
            sys,
            opts,
            n,
            z: (0..n).map(|j| opts.clamp(j, z[j])).collect(),
            w: vec![1.0; n],
            s: vec![1.0; n],
            r: vec![0.0; n],
            jac: vec![0.0; n * n],
            tmp: vec![0.0; n],
            residuals: 1,
        };
        checked(this.sys.residual(&this.z, &mut this.r), &this.r)?;
        this.residuals += jacobian(this.sys, &mut this.z, &this.r, opts, &mut this.tmp, &mut this.jac)?;
        for j in 0..n {
            this.w[j] = opts.weight(j, this.z[j]);
        }
        row_scales(&this.jac, &this.w, &mut this.s);
        for i in 0..n {
            // A row whose derivatives (nearly) vanish here is scaled by its own value.
            if this.jac.iter().skip(i).step_by(n).all(|v| *v == 0.0) && this.r[i] != 0.0 {
                this.s[i] = this.r[i].abs();
            }
        }
        this.scale_jacobian();
        Ok(this)
    }

    fn scale_jacobian(&mut self) {
        for (column, w) in self.jac.chunks_exact_mut(self.n).zip(&self.w) {
            for (v, s) in column.iter_mut().zip(&self.s) {
                *v *= w / s;
            }
        }
    }

    fn refresh(&mut self) -> Result<(), DomainError> {
        self.residuals += jacobian(self.sys, &mut self.z, &self.r, self.opts, &mut self.tmp, &mut self.jac)?;
        self.scale_jacobian();
        Ok(())
    }

    /// ½ ‖f‖².
    fn merit_of(&self, r: &[f64]) -> f64 {
        0.5 * r.iter().zip(&self.s).map(|(r, s)| (r / s) * (r / s)).sum::<f64>()
    }

    fn gradient(&self) -> Vec<f64> {
        self.jac
            .chunks_exact(self.n)
            .map(|c| c.iter().zip(&self.r).zip(&self.s).map(|((c, r), s)| c * r / s).sum())
            .collect()
    }

    /// z + w p, projected on the bounds, with its residual.
    fn trial(&mut self, p: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let z: Vec<f64> = (0..self.n).map(|j| self.opts.clamp(j, self.z[j] + self.w[j] * p[j])).collect();
        let mut r = vec![0.0; self.n];
        self.residuals += 1;
        if z.iter().any(|v| !v.is_finite()) || z == self.z {
            return None;
        }
        checked(self.sys.residual(&z, &mut r), &r).ok().map(|()| (z, r))
    }

    fn descent(&self, iterations: usize, last_step: f64) -> Descent {
        Descent { iterations, residuals: self.residuals, residual_norm: worst(&self.r, &self.s).0, last_step }
    }

    /// JᵀJ of the scaled Jacobian.
    fn normal_matrix(&self) -> Vec<f64> {
        let n = self.n;
        let mut a = vec![0.0; n * n];
        if n >= 48 {
            let j = MatRef::from_column_major_slice(&self.jac, n, n);
            let product: Mat<f64> = j.transpose() * j;
            for c in 0..n {
                for r in 0..n {
                    a[r + c * n] = product[(r, c)];
                }
            }
        } else {
            for c in 0..n {
                for r in c..n {
                    let v: f64 = self.jac[r * n..(r + 1) * n]
                        .iter()
                        .zip(&self.jac[c * n..(c + 1) * n])
                        .map(|(a, b)| a * b)
                        .sum();
                    a[r + c * n] = v;
                    a[c + r * n] = v;
                }
            }
        }
        a
    }
}

/// −(A + μI)⁻¹ g, or nothing if A + μI is not positive definite.
pub(crate) fn damped_step(n: usize, a: &[f64], mu: f64, g: &[f64]) -> Option<Vec<f64>> {
    let mut m = a.to_vec();
    for k in 0..n {
        m[k + k * n] += mu;
    }
    let mut p: Vec<f64> = g.iter().map(|v| -v).collect();
    if n >= 48 {
        let llt = MatRef::from_column_major_slice(&m, n, n).llt(Side::Lower).ok()?;
        llt.solve_in_place_with_conj(faer::Conj::No, faer::MatMut::from_column_major_slice_mut(&mut p, n, 1));
    } else {
        if !cholesky(n, &mut m) {
            return None;
        }
        cholesky_solve(n, &m, &mut p);
    }
    p.iter().all(|v| v.is_finite()).then_some(p)
}

/// A deterministic stream of numbers in [0, 1) (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Stream(pub u64);

impl Stream {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Levenberg–Marquardt with Nielsen's damping; stationary points that are no roots are left by perturbation.
pub(crate) fn levenberg_marquardt<S: NonlinearSystem + ?Sized>(
    sys: &mut S,
    z: &mut [f64],
    opts: &NewtonOptions,
    max_iter: usize,
) -> Result<Descent, DomainError> {
    let mut at = Scaled::new(sys, z, opts)?;
    let n = at.n;
    let mut stream = Stream(0x5a17_0000 + n as u64);
    let mut best = (at.merit_of(&at.r), at.z.clone(), at.r.clone());
    let mut perturbed = 0;
    let mut iterations = 0;
    let mut last_step = f64::INFINITY;
    let mut mu = 0.0;
    let mut growth = 2.0;
    while iterations < max_iter {
        let merit = at.merit_of(&at.r);
        if merit < best.0 {
            best = (merit, at.z.clone(), at.r.clone());
        }
        if worst(&at.r, &at.s).0 <= 4.0 * f64::EPSILON {
            break;
        }
        iterations += 1;
        let g = at.gradient();
        let a = at.normal_matrix();
        let diagonal = (0..n).map(|k| a[k + k * n]).fold(0.0f64, f64::max);
        let flat = g.iter().fold(0.0f64, |s, v| s.max(v.abs())) <= 1e-9 * diagonal.sqrt().max(1e-6) * merit.sqrt();
        let mut moved = false;
        if !flat {
            if mu == 0.0 {
                mu = 1e-3 * diagonal;
            }
            for _ in 0..60 {
                let Some(p) = damped_step(n, &a, mu.max(1e-15 * diagonal), &g) else {
                    mu = (mu * growth).max(1e-15 * diagonal);
                    growth *= 2.0;
                    continue;
                };
                let predicted: f64 = 0.5 * p.iter().zip(&g).map(|(p, g)| p * (mu * p - g)).sum::<f64>();
                let size =
                    (0..n).map(|j| (p[j] * at.w[j] / opts.judge(j, at.z[j]).max(at.w[j])).abs()).fold(0.0f64, f64::max);
                if let Some((z_new, r_new)) = at.trial(&p) {
                    let merit_new = at.merit_of(&r_new);
                    if merit_new < merit {
                        let rho = (merit - merit_new) / predicted.max(f64::MIN_POSITIVE);
                        mu *= (1.0 - (2.0 * rho - 1.0).powi(3)).clamp(0.1, 2.0);
                        growth = 2.0;
                        at.z = z_new;
                        at.r = r_new;
                        last_step = size;
                        moved = true;
                        break;
                    }
                }
                last_step = last_step.min(size);
                if size <= 1e-14 {
                    break;
                }
                mu *= growth;
                growth *= 2.0;
                if !mu.is_finite() {
                    break;
                }
            }
        }
        if moved {
            at.refresh()?;
            continue;
        }
        // Stationary: done if the residual has reached its noise, otherwise step aside.
        if worst(&at.r, &at.s).0 <= 1e-12 || perturbed >= 8 {
            break;
        }
        perturbed += 1;
        let radius = 1e-2 * 3f64.powi(perturbed);
        at.z.copy_from_slice(&best.1);
        at.r.copy_from_slice(&best.2);
        let mut found = false;
        for _ in 0..20 {
            let p: Vec<f64> = (0..n).map(|_| radius * (2.0 * stream.next() - 1.0)).collect();
            if let Some((z_new, r_new)) = at.trial(&p) {
                at.z = z_new;
                at.r = r_new;
                found = at.refresh().is_ok();
                if found {
                    break;
                }
            }
        }
        if !found {
            break;
        }
        mu = 0.0;
        growth = 2.0;
    }
    if at.merit_of(&at.r) > best.0 {
        at.z = best.1;
        at.r = best.2;
    }
    z[..n].copy_from_slice(&at.z);
    Ok(at.descent(iterations, last_step))
}

/// Powell's dogleg: Newton inside the trust region, bent towards steepest descent at its border.
pub(crate) fn dogleg<S: NonlinearSystem + ?Sized>(
    sys: &mut S,
    z: &mut [f64],
    opts: &NewtonOptions,
    max_iter: usize,
) -> Result<Descent, DomainError> {
    let mut at = Scaled::new(sys, z, opts)?;
    let n = at.n;
    let ones = vec![1.0; n];
    let norm = |p: &[f64]| p.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut lu = Lu::new();
    let mut radius = (n as f64).sqrt();
    let mut iterations = 0;
    let mut last_step = f64::INFINITY;
    'outer: while iterations < max_iter {
        let merit = at.merit_of(&at.r);
        if worst(&at.r, &at.s).0 <= 4.0 * f64::EPSILON {
            break;
        }
        iterations += 1;
        let g = at.gradient();
        let g_norm = norm(&g);
        if !(g_norm > 1e-12 * merit.sqrt()) {
            break;
        }
        let newton: Option<Vec<f64>> = lu.factor(n, &at.jac, &ones).ok().map(|()| {
            let mut p: Vec<f64> = at.r.iter().zip(&at.s).map(|(r, s)| -r / s).collect();
            lu.solve(&mut p);
            p
        });
        let newton = newton.filter(|p| p.iter().all(|v| v.is_finite()));
        // Cauchy step −(‖g‖² / ‖Jg‖²) g.
        let mut jg = vec![0.0; n];
        for (column, g) in at.jac.chunks_exact(n).zip(&g) {
            for (s, v) in jg.iter_mut().zip(column) {
                *s += v * g;
            }
        }
        let t = (g_norm / norm(&jg).max(f64::MIN_POSITIVE)).powi(2);
        let cauchy: Vec<f64> = g.iter().map(|v| -t * v).collect();
        loop {
            let p: Vec<f64> = match &newton {
                Some(p) if norm(p) <= radius => p.clone(),
                _ if norm(&cauchy) >= radius => g.iter().map(|v| -v * radius / g_norm).collect(),
                None => cauchy.clone(),
                Some(p) => {
                    let diff: Vec<f64> = p.iter().zip(&cauchy).map(|(a, b)| a - b).collect();
                    let aa = norm(&diff).powi(2);
                    let bb: f64 = diff.iter().zip(&cauchy).map(|(a, b)| a * b).sum();
                    let cc = norm(&cauchy).powi(2) - radius * radius;
                    let share = (-bb + (bb * bb - aa * cc).max(0.0).sqrt()) / aa.max(f64::MIN_POSITIVE);
                    cauchy.iter().zip(&diff).map(|(c, d)| c + share.clamp(0.0, 1.0) * d).collect()
                }
            };
            let mut linear: Vec<f64> = at.r.iter().zip(&at.s).map(|(r, s)| r / s).collect();
            for (column, p) in at.jac.chunks_exact(n).zip(&p) {
                for (s, v) in linear.iter_mut().zip(column) {
                    *s += v * p;
                }
            }
            let predicted = merit - 0.5 * norm(&linear).powi(2);
            let size = norm(&p);
            last_step =
                (0..n).map(|j| (p[j] * at.w[j] / opts.judge(j, at.z[j]).max(at.w[j])).abs()).fold(0.0f64, f64::max);
            if let Some((z_new, r_new)) = at.trial(&p) {
                let gain = (merit - at.merit_of(&r_new)) / predicted.max(f64::MIN_POSITIVE);
                if gain > 1e-4 {
                    at.z = z_new;
                    at.r = r_new;
                    if gain < 0.25 {
                        radius *= 0.5;
                    } else if gain > 0.75 {
                        radius = radius.max(3.0 * size);
                    }
                    if at.refresh().is_err() {
                        break 'outer;
                    }
                    continue 'outer;
                }
            }
            radius = 0.25 * radius.min(size);
            if !(radius > 1e-15) {
                break 'outer;
            }
        }
    }
    z[..n].copy_from_slice(&at.z);
    Ok(at.descent(iterations, last_step))
}
