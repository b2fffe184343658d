//! Complementarity problems.
//!
//! * [`lemke`]: the linear problem w = Mz + q, z ≥ 0, w ≥ 0, zᵀw = 0 by complementary pivoting.
//! * [`semismooth_newton`]: the nonlinear problem z_i ≥ 0 ⟂ F_i(z) ≥ 0, mixed with equations F_i(z) = 0, as the system
//!   of Fischer–Burmeister equations √(a² + b²) = a + b.
//! * [`piecewise`]: the search for a consistent mode of any system that is
//!   smooth when its relations are locked.

pub use crate::nonlinear::piecewise;

use crate::nonlinear::DomainError;
use crate::nonlinear::dense::Lu;
use crate::nonlinear::trust::damped_step;
use crate::nonlinear::{checked, finite_differences};

/// A solution of w = Mz + q, z ≥ 0, w ≥ 0, zᵀw = 0.
#[derive(Debug, Clone, PartialEq)]
pub struct LcpSolution {
    /// z.
    pub z: Vec<f64>,
    /// w = Mz + q; exactly zero where z is basic.
    pub w: Vec<f64>,
    /// Where z, not w, is in the basis: the mode of each pair.
    pub basic: Vec<bool>,
    /// Pivots made.
    pub pivots: usize,
}

/// Why [`lemke`] ended without a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LcpFailure {
    /// The path ended on a ray. For copositive-plus M (positive semidefinite ones among them) there is no solution.
    Ray,
    /// Too many pivots.
    PivotLimit,
    /// M or q is not finite.
    NotFinite,
}

/// Solves the linear complementarity problem by Lemke's method; `m` is column-major n × n.
///
/// Ties in the ratio test are broken lexicographically, so the method does not cycle (Cottle, Pang and Stone, The Linear
/// Complementarity Problem, section 4.9). It finds the solution of every problem with a P-matrix.
///
/// ```
/// let s = saltus_solver::lcp::lemke(&[2.0, 1.0, 1.0, 2.0], &[-5.0, -6.0]).unwrap();
/// assert!((s.z[0] - 4.0 / 3.0).abs() < 1e-15 && (s.z[1] - 7.0 / 3.0).abs() < 1e-15);
/// ```
pub fn lemke(m: &[f64], q: &[f64]) -> Result<LcpSolution, LcpFailure> {
    lemke_ahead(m, q, &vec![0.0; q.len()], 0.0)
}

/// The same for q + ε·rate, ε positive and smaller than anything: where q leaves several bases for the solution, the one is found
/// that still holds a moment later. Entries of q up to `zero` are zero.
///
/// ```
/// // z stays zero for q = 0; a moment later, q = −ε, it is in the basis.
/// let s = saltus_solver::lcp::lemke_ahead(&[1.0], &[1e-14], &[-1.0], 1e-12).unwrap();
/// assert_eq!((s.z[0], s.basic[0]), (0.0, true));
/// ```
pub fn lemke_ahead(m: &[f64], q: &[f64], rate: &[f64], zero: f64) -> Result<LcpSolution, LcpFailure> {
    let n = q.len();
    if m.len() < n * n || rate.len() < n || m[..n * n].iter().chain(q).chain(rate).any(|v| !v.is_finite()) {
        return Err(LcpFailure::NotFinite);
    }
    let beyond =
        |v: &[f64], zero: f64| -> Vec<f64> { v.iter().map(|v| if v.abs() <= zero { 0.0 } else { *v }).collect() };
    let fastest = rate.iter().fold(0.0f64, |m, r| m.max(r.abs()));
    let (q, rate) = (beyond(q, zero), beyond(&rate[..n], if zero > 0.0 { 1e-6 * fastest } else { 0.0 }));
    if q.iter().zip(&rate).all(|(q, r)| *q > 0.0 || *q == 0.0 && *r >= 0.0) {
        return Ok(LcpSolution { z: vec![0.0; n], w: q.to_vec(), basic: vec![false; n], pivots: 0 });
    }
    // Equilibrate: w = E w', z = D z' with positive powers of two changes nothing but the rounding.
    let power = |v: f64| if v > 0.0 && v.is_finite() { (-v.log2().floor()).clamp(-900.0, 900.0).exp2() } else { 1.0 };
    let row: Vec<f64> = (0..n).map(|i| power((0..n).map(|j| m[i + j * n].abs()).fold(0.0, f64::max))).collect();
    let column: Vec<f64> =
        (0..n).map(|j| power((0..n).map(|i| (m[i + j * n] * row[i]).abs()).fold(0.0, f64::max))).collect();
    let width = 2 * n + 3;
    // Row-major tableau of w − Mz − e z0 = q: columns w, z, z0, q, its rate. The w columns hold the inverse basis.
    let mut t = vec![0.0; n * width];
    for i in 0..n {
        t[i * width + i] = 1.0;
        for j in 0..n {
            t[i * width + n + j] = -m[i + j * n] * row[i] * column[j];
        }
        t[i * width + 2 * n] = -1.0;
        t[i * width + 2 * n + 1] = q[i] * row[i];
        t[i * width + 2 * n + 2] = rate[i] * row[i];
    }
    let size = |column: usize| (0..n).map(|i| t[i * width + column].abs()).fold(0.0, f64::max);
    // What of these columns is told apart from zero after some pivots.
    let doubt = if zero > 0.0 { [1e-12 * size(2 * n + 1), 1e-6 * size(2 * n + 2)] } else { [0.0; 2] };
    let mut basis: Vec<usize> = (0..n).collect();
    let mut pivots = 0;
    let pivot = |t: &mut [f64], r: usize, c: usize| {
        let p = t[r * width + c];
        for v in &mut t[r * width..(r + 1) * width] {
            *v /= p;
        }
        t[r * width + c] = 1.0;
        let pivot_row = t[r * width..(r + 1) * width].to_vec();
        for i in (0..n).filter(|&i| i != r) {
            let f = t[i * width + c];
            if f != 0.0 {
                for (v, p) in t[i * width..(i + 1) * width].iter_mut().zip(&pivot_row) {
                    *v -= f * p;
                }
                t[i * width + c] = 0.0;
            }
        }
    };
    // Compares two rows lexicographically by (q, rate, inverse basis) / pivot column entry, by so many columns.
    let smaller_by = |t: &[f64], a: usize, b: usize, c: usize, columns: usize| {
        let (pa, pb) = (t[a * width + c].abs(), t[b * width + c].abs());
        let all = [(2 * n + 1, doubt[0]), (2 * n + 2, doubt[1])].into_iter().chain((0..n).map(|k| (k, 0.0)));
        for (k, doubt) in all.take(columns) {
            let (x, y) = (t[a * width + k] / pa, t[b * width + k] / pb);
            if (x - y).abs() > 1e-13 * x.abs().max(y.abs()).max(1e-3) + doubt * (1.0 / pa + 1.0 / pb) {
                return x < y;
            }
        }
        false
    };
    let smaller = |t: &[f64], a: usize, b: usize, c: usize| smaller_by(t, a, b, c, n + 2);
    let z0 = 2 * n;
    let mut leaving_row = 0;
    for i in 1..n {
        if smaller(&t, i, leaving_row, z0) {
            leaving_row = i;
        }
    }
    let mut entering = z0;
    let limit = 200 * (n + 1);
    loop {
        pivot(&mut t, leaving_row, entering);
        let leaving = std::mem::replace(&mut basis[leaving_row], entering);
        pivots += 1;
        if leaving == z0 {
            break;
        }
        if pivots >= limit {
            return Err(LcpFailure::PivotLimit);
        }
        entering = if leaving < n { leaving + n } else { leaving - n };
        let largest = (0..n).map(|i| t[i * width + entering].abs()).fold(0.0, f64::max);
        let may = |i: &usize| t[i * width + entering] > 1e-11 * largest && t[i * width + entering] > 1e-14;
        let best = (0..n).filter(may).reduce(|b, i| if smaller(&t, i, b, entering) { i } else { b });
        // z0 leaves as soon as it may: without the inverse basis, which stands for a perturbation that may have no solution.
        let over = (0..n).filter(may).find(|&i| basis[i] == z0);
        let over = over.filter(|&i| best.is_some_and(|b| !smaller_by(&t, b, i, entering, 2)));
        leaving_row = over.or(best).ok_or(LcpFailure::Ray)?;
    }
    let mut basic = vec![false; n];
    let mut z = vec![0.0; n];
    for (i, &b) in basis.iter().enumerate() {
        if (n..2 * n).contains(&b) {
            basic[b - n] = true;
            z[b - n] = t[i * width + 2 * n + 1] * column[b - n];
        }
    }
    Ok(finish(m, &q, basic, z, pivots))
}

/// Solves once more with the final basis to undo the pivots' rounding errors.
fn finish(m: &[f64], q: &[f64], basic: Vec<bool>, tableau: Vec<f64>, pivots: usize) -> LcpSolution {
    let n = q.len();
    let set: Vec<usize> = (0..n).filter(|&j| basic[j]).collect();
    let k = set.len();
    let mut a = vec![0.0; k * k];
    for (c, &j) in set.iter().enumerate() {
        for (r, &i) in set.iter().enumerate() {
            a[r + c * k] = m[i + j * n];
        }
    }
    let mut x: Vec<f64> = set.iter().map(|&i| -q[i]).collect();
    let mut lu = Lu::new();
    let mut z = tableau;
    if lu.factor(k, &a, &vec![1.0; k]).is_ok() {
        lu.solve(&mut x);
        for (c, &j) in set.iter().enumerate() {
            z[j] = x[c];
        }
    }
    for v in &mut z {
        *v = v.max(0.0);
    }
    let w = (0..n)
        .map(|i| if basic[i] { 0.0 } else { (q[i] + set.iter().map(|&j| m[i + j * n] * z[j]).sum::<f64>()).max(0.0) })
        .collect();
    LcpSolution { z, w, basic, pivots }
}

/// What is asked of the pair (z_i, F_i).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pair {
    /// F_i(z) = 0, z_i free.
    Equation,
    /// z_i ≥ 0, F_i(z) ≥ 0, one of them zero.
    Complementary,
}

/// A mixed nonlinear complementarity problem.
pub trait ComplementaritySystem {
    /// The number of pairs.
    fn dim(&self) -> usize;

    /// The kind of pair i.
    fn pair(&self, i: usize) -> Pair {
        let _ = i;
        Pair::Complementary
    }

    /// Writes F(z); `Err` means outside the domain.
    fn evaluate(&mut self, z: &[f64], f: &mut [f64]) -> Result<(), DomainError>;

    /// Writes ∂F/∂z, column-major; `Ok(false)` asks for finite differences.
    fn jacobian(&mut self, z: &[f64], jac: &mut [f64]) -> Result<bool, DomainError> {
        let _ = (z, jac);
        Ok(false)
    }
}

/// Limits of [`semismooth_newton`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComplementarityOptions {
    /// Accepted residual of the scaled Fischer–Burmeister equations.
    pub tol: f64,
    /// The limit on iterations.
    pub max_iter: usize,
}

impl Default for ComplementarityOptions {
    fn default() -> Self {
        Self { tol: 1e-12, max_iter: 200 }
    }
}

/// Where [`semismooth_newton`] ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ComplementarityReport {
    /// Whether the residual is within tolerance.
    pub converged: bool,
    /// Iterations made.
    pub iterations: usize,
    /// Largest scaled residual.
    pub residual_norm: f64,
    /// Its row.
    pub worst_row: usize,
}

/// Solves a mixed complementarity problem from the guess in `z`, which then holds the best point found.
///
/// Newton on Φ_i = φ(z_i, F_i / S_i) with φ(a, b) = a + b − √(a² + b²), any element of the generalized Jacobian, and a
/// line search on ½‖Φ‖²; where the Newton direction fails, a Levenberg–Marquardt one (De Luca, Facchinei and Kanzow
/// 1996). `Err` if F cannot be evaluated at the guess.
pub fn semismooth_newton<S: ComplementaritySystem + ?Sized>(
    sys: &mut S,
    z: &mut [f64],
    opts: &ComplementarityOptions,
) -> Result<ComplementarityReport, DomainError> {
    let n = sys.dim();
    let z = &mut z[..n];
    let pairs: Vec<Pair> = (0..n).map(|i| sys.pair(i)).collect();
    if z.iter().any(|v| !v.is_finite()) {
        return Err(DomainError);
    }
    let mut f = vec![0.0; n];
    checked(sys.evaluate(z, &mut f), &f)?;
    let mut jac = vec![0.0; n * n];
    let mut shifted = vec![0.0; n];
    let mut scale: Option<Vec<f64>> = None;
    let mut lu = Lu::new();
    let mut iterations = 0;
    let mut best_step = f64::INFINITY;
    loop {
        jac.fill(0.0);
        if !sys.jacobian(z, &mut jac)? {
            let sizes = |_: usize, v: f64| Some(v.abs().max(1.0));
            let everywhere = |_: usize| (f64::NEG_INFINITY, f64::INFINITY);
            finite_differences(|z, f| sys.evaluate(z, f), z, &f, sizes, everywhere, &mut shifted, &mut jac)?;
        }
        let scale = &*scale.get_or_insert_with(|| {
            (0..n)
                .map(|i| {
                    let s = (0..n).map(|j| jac[i + j * n].abs() * z[j].abs().max(1.0)).fold(0.0, f64::max);
                    if s > 0.0 && s.is_finite() { s } else { 1.0 }
                })
                .collect()
        });
        let phi = |z: &[f64], f: &[f64]| -> Vec<f64> {
            (0..n)
                .map(|i| {
                    let b = f[i] / scale[i];
                    match pairs[i] {
                        Pair::Equation => b,
                        Pair::Complementary => fischer_burmeister(z[i], b),
                    }
                })
                .collect()
        };
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let residual = phi(z, &f);
        let merit = norm(&residual);
        let (residual_norm, worst_row) =
            residual.iter().enumerate().fold((0.0, 0), |a, (i, v)| if v.abs() > a.0 { (v.abs(), i) } else { a });
        let report = |converged: bool, iterations: usize| ComplementarityReport {
            converged,
            iterations,
            residual_norm,
            worst_row,
        };
        if residual_norm == 0.0 || (residual_norm <= opts.tol && best_step <= 1e-14) {
            return Ok(report(true, iterations));
        }
        if iterations >= opts.max_iter {
            return Ok(report(residual_norm <= opts.tol, iterations));
        }
        iterations += 1;
        // H = diag(∂φ/∂a) + diag(∂φ/∂b) J / S.
        let mut h = jac.clone();
        for i in 0..n {
            let (da, db) = match pairs[i] {
                Pair::Equation => (0.0, 1.0),
                Pair::Complementary => {
                    let (a, b) = (z[i], f[i] / scale[i]);
                    let r = a.hypot(b);
                    let corner = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
                    if r > 0.0 { (1.0 - a / r, 1.0 - b / r) } else { (corner, corner) }
                }
            };
            for j in 0..n {
                h[i + j * n] *= db / scale[i];
            }
            h[i + i * n] += da;
        }
        let mut directions: Vec<Vec<f64>> = Vec::new();
        if lu.factor(n, &h, &vec![1.0; n]).is_ok() {
            let mut d: Vec<f64> = residual.iter().map(|v| -v).collect();
            lu.solve(&mut d);
            directions.push(d);
        }
        let mut accepted = false;
        let mut damping = 1e-6;
        let mut attempt = 0;
        while !accepted && attempt < 8 {
            let d = match directions.pop() {
                Some(d) => d,
                None => {
                    let gradient: Vec<f64> = (0..n).map(|j| (0..n).map(|i| h[i + j * n] * residual[i]).sum()).collect();
                    let mut normal = vec![0.0; n * n];
                    for a in 0..n {
                        for b in 0..n {
                            normal[a + b * n] = (0..n).map(|i| h[i + a * n] * h[i + b * n]).sum();
                        }
                    }
                    damping *= 30.0;
                    attempt += 1;
                    match damped_step(n, &normal, damping, &gradient) {
                        Some(d) => d,
                        None => continue,
                    }
                }
            };
            if d.iter().any(|v| !v.is_finite()) {
                continue;
            }
            let size = d.iter().zip(z.iter()).map(|(d, z)| d.abs() / z.abs().max(1.0)).fold(0.0, f64::max);
            let mut lambda = 1.0;
            while lambda > 1e-10 {
                let trial: Vec<f64> = z.iter().zip(&d).map(|(z, d)| z + lambda * d).collect();
                let mut f_trial = vec![0.0; n];
                if trial.iter().all(|v| v.is_finite())
                    && checked(sys.evaluate(&trial, &mut f_trial), &f_trial).is_ok()
                    && norm(&phi(&trial, &f_trial)) <= (1.0 - 1e-4 * lambda) * merit
                {
                    z.copy_from_slice(&trial);
                    f = f_trial;
                    best_step = lambda * size;
                    accepted = true;
                    break;
                }
                if residual_norm <= opts.tol {
                    break;
                }
                lambda *= 0.5;
            }
            if residual_norm <= opts.tol {
                break;
            }
        }
        if !accepted {
            return Ok(report(residual_norm <= opts.tol, iterations));
        }
    }
}

/// a + b − √(a² + b²), without cancellation where both are positive.
fn fischer_burmeister(a: f64, b: f64) -> f64 {
    let r = a.hypot(b);
    if a + b > 0.0 { 2.0 * a * b / (a + b + r) } else { a + b - r }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_solution(m: &[f64], q: &[f64], s: &LcpSolution, tol: f64) {
        let n = q.len();
        for i in 0..n {
            let w = q[i] + (0..n).map(|j| m[i + j * n] * s.z[j]).sum::<f64>();
            assert!(s.z[i] >= 0.0 && s.w[i] >= 0.0 && s.z[i] * s.w[i] == 0.0);
            assert!((w - s.w[i]).abs() <= tol, "row {i}: {w} {s:?}");
        }
    }

    #[test]
    fn small_problems() {
        assert!(lemke(&[], &[]).unwrap().z.is_empty());
        assert_eq!(lemke(&[1.0], &[2.0]).unwrap().w, [2.0]);
        assert_eq!(lemke(&[2.0], &[-2.0]).unwrap().z, [1.0]);
        // z = −1 is impossible: no solution.
        assert_eq!(lemke(&[0.0], &[-1.0]), Err(LcpFailure::Ray));
        assert_eq!(lemke(&[f64::NAN], &[-1.0]), Err(LcpFailure::NotFinite));
        assert_eq!(lemke(&[1.0], &[-1.0, 1.0]), Err(LcpFailure::NotFinite));
        // A diode bridge like degenerate problem: ties in q.
        let m = [1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0];
        let q = [-1.0, -1.0, -1.0];
        check_solution(&m, &q, &lemke(&m, &q).unwrap(), 1e-14);
    }

    #[test]
    fn solvable_though_not_when_perturbed() {
        // Two diodes in series without anything to drive them, and one beside: w₂ ≥ 0 and w₃ = −w₂ hold with equality alone.
        let m = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let s = lemke(&m, &[-1.0, 0.0, 0.0]).unwrap();
        assert_eq!(s.z, [1.0, 0.0, 0.0]);
        // A ring of three diodes that a source drives against a fourth.
        let m = [1.0, -1.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        check_solution(&m, &[-1.0, 1.0, 0.0], &lemke(&m, &[-1.0, 1.0, 0.0]).unwrap(), 1e-14);
    }

    #[test]
    fn badly_scaled() {
        let m = [1e8, 1e-3, 2e3, 1e-6];
        let q = [-1e7, -1e-7];
        let s = lemke(&m, &q).unwrap();
        check_solution(&m, &q, &s, 1e-8);
    }

    #[test]
    fn murty_exponential_example() {
        // Lower triangular with twos: many pivots, still solved.
        let n = 8;
        let mut m = vec![0.0; n * n];
        for j in 0..n {
            m[j + j * n] = 1.0;
            for i in j + 1..n {
                m[i + j * n] = 2.0;
            }
        }
        let q = vec![-1.0; n];
        let s = lemke(&m, &q).unwrap();
        check_solution(&m, &q, &s, 1e-12);
        assert_eq!(s.z[0], 1.0);
    }

    struct Problem<F>(usize, F, Vec<Pair>);

    impl<F: FnMut(&[f64], &mut [f64])> ComplementaritySystem for Problem<F> {
        fn dim(&self) -> usize {
            self.0
        }
        fn pair(&self, i: usize) -> Pair {
            self.2.get(i).copied().unwrap_or(Pair::Complementary)
        }
        fn evaluate(&mut self, z: &[f64], f: &mut [f64]) -> Result<(), DomainError> {
            (self.1)(z, f);
            Ok(())
        }
    }

    #[test]
    fn kojima_shindo() {
        let mut sys = Problem(
            4,
            |x: &[f64], f: &mut [f64]| {
                f[0] = 3.0 * x[0] * x[0] + 2.0 * x[0] * x[1] + 2.0 * x[1] * x[1] + x[2] + 3.0 * x[3] - 6.0;
                f[1] = 2.0 * x[0] * x[0] + x[0] + x[1] * x[1] + 10.0 * x[2] + 2.0 * x[3] - 2.0;
                f[2] = 3.0 * x[0] * x[0] + x[0] * x[1] + 2.0 * x[1] * x[1] + 2.0 * x[2] + 9.0 * x[3] - 9.0;
                f[3] = x[0] * x[0] + 3.0 * x[1] * x[1] + 2.0 * x[2] + 3.0 * x[3] - 3.0;
            },
            vec![],
        );
        for guess in [[0.0; 4], [1.0; 4], [1.2, 0.0, 0.0, 0.6], [2.0, 1.0, 0.5, 1.0]] {
            let mut z = guess;
            let report = semismooth_newton(&mut sys, &mut z, &Default::default()).unwrap();
            assert!(report.converged, "{report:?}");
            let mut f = [0.0; 4];
            (sys.1)(&z, &mut f);
            for i in 0..4 {
                assert!(z[i] > -1e-10 && f[i] > -1e-9 && (z[i] * f[i]).abs() < 1e-6, "{z:?} {f:?}");
            }
        }
    }

    #[test]
    fn diode_in_a_circuit() {
        // i = (u − v) / R as an equation, diode v⁻ ⟂ i.
        for u in [-5.0, 0.0, 3.0] {
            let mut sys = Problem(
                2,
                move |x: &[f64], f: &mut [f64]| {
                    // x[0]: reverse voltage ≥ 0 ⟂ current x[1] ≥ 0; x[1] = (u + x[0]) / 100.
                    f[0] = x[1];
                    f[1] = x[1] - (u + x[0]) / 100.0;
                },
                vec![Pair::Complementary, Pair::Equation],
            );
            let mut z = [1.0, 1.0];
            let report = semismooth_newton(&mut sys, &mut z, &Default::default()).unwrap();
            assert!(report.converged, "{u}: {report:?} {z:?}");
            assert!((z[1] - u.max(0.0) / 100.0).abs() < 1e-10 && (z[0] - (-u).max(0.0)).abs() < 1e-8, "{u}: {z:?}");
        }
        let mut sys = Problem(1, |_: &[f64], f: &mut [f64]| f[0] = f64::NAN, vec![]);
        assert!(semismooth_newton(&mut sys, &mut [0.0], &Default::default()).is_err());
        let mut sys = Problem(0, |_: &[f64], _: &mut [f64]| (), vec![]);
        assert!(semismooth_newton(&mut sys, &mut [], &Default::default()).unwrap().converged);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        /// Random P-matrices (diagonally dominant, or AᵀA + I plus a skew part) with a planted solution.
        #[test]
        fn p_matrices(
            n in 1usize..30,
            seed in proptest::collection::vec(-1.0f64..1.0, 900),
            pattern in proptest::collection::vec((any::<bool>(), 0.1f64..5.0), 30),
            definite in any::<bool>(),
        ) {
            let a = &seed[..n * n];
            let mut m = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..n {
                    m[i + j * n] = if definite {
                        let square: f64 = (0..n).map(|k| a[k + i * n] * a[k + j * n]).sum();
                        square + if i == j { 1.0 } else { 0.0 } + a[i + j * n] - a[j + i * n]
                    } else {
                        a[i + j * n]
                    };
                }
            }
            if !definite {
                for i in 0..n {
                    let off: f64 = (0..n).filter(|&j| j != i).map(|j| m[i + j * n].abs()).sum();
                    m[i + i * n] = off + 0.3;
                }
            }
            let z: Vec<f64> = pattern[..n].iter().map(|(b, v)| if *b { *v } else { 0.0 }).collect();
            let q: Vec<f64> = (0..n).map(|i| {
                let mz: f64 = (0..n).map(|j| m[i + j * n] * z[j]).sum();
                if pattern[i].0 { -mz } else { pattern[i].1 - mz }
            }).collect();
            let s = lemke(&m, &q).expect("P-matrices have a solution");
            for i in 0..n {
                prop_assert!((s.z[i] - z[i]).abs() < 1e-9, "{:?} {:?}", s, z);
            }
            let mut sys = Problem(n, |x: &[f64], f: &mut [f64]| {
                for i in 0..n {
                    f[i] = q[i] + (0..n).map(|j| m[i + j * n] * x[j]).sum::<f64>();
                }
            }, vec![]);
            let mut x = vec![0.0; n];
            let report = semismooth_newton(&mut sys, &mut x, &Default::default()).unwrap();
            prop_assert!(report.converged, "{:?}", report);
            for i in 0..n {
                prop_assert!((x[i] - z[i]).abs() < 1e-7, "{:?} {:?}", x, z);
            }
        }
    }
}
