//! Minimum-norm Gauss–Newton for systems with any number of equations and unknowns, with a rank report.
//!
//! Each step solves min ‖f + J p‖ over the scaled residual f_i = F_i / S_i and takes, among all minimizers, the p of
//! least norm in the scaled unknowns: unknowns that the equations do not determine stay near their guesses. Ranks come
//! from QR with column pivoting.

use super::dense::PivotedQr;
use super::newton::NewtonOptions;
use super::{DomainError, checked, finite_differences};

/// A system of m equations in n unknowns.
pub trait ResidualSystem {
    /// The number n of unknowns.
    fn unknowns(&self) -> usize;

    /// The number m of equations.
    fn equations(&self) -> usize;

    /// Writes the m residuals at z to `r`; `Err` means outside the domain.
    fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Result<(), DomainError>;

    /// Writes the m × n Jacobian, column-major; `Ok(false)` asks for finite differences.
    fn jacobian(&mut self, z: &[f64], jac: &mut [f64]) -> Result<bool, DomainError> {
        let _ = (z, jac);
        Ok(false)
    }
}

/// How [`least_squares`] works.
#[derive(Debug, Clone, PartialEq)]
pub struct LeastSquaresOptions {
    /// Step tolerance (`xtol`), consistency tolerance (`ftol`), iteration limit, scales and bounds.
    pub newton: NewtonOptions,
    /// Diagonal entries of R below this fraction of the largest count as zero.
    pub rank_tol: f64,
    /// Weights that multiply the residuals. Empty: each row is divided by its scale S_i at the guess, which is right
    /// for systems that have an exact solution.
    pub row_weight: Vec<f64>,
}

impl Default for LeastSquaresOptions {
    fn default() -> Self {
        Self { newton: NewtonOptions::default(), rank_tol: 1e-10, row_weight: Vec::new() }
    }
}

/// Where the iteration ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeastSquaresReport {
    /// Gauss–Newton iterations.
    pub iterations: usize,
    /// Rank of the Jacobian at the end.
    pub rank: usize,
    /// Unknowns the equations leave undetermined (n − rank of them; a choice among equals follows column norms).
    pub undetermined: Vec<usize>,
    /// Equations that depend on the others (m − rank of them).
    pub dependent: Vec<usize>,
    /// The weighted residuals' largest entry.
    pub residual_norm: f64,
    /// Its row.
    pub worst_row: usize,
    /// Whether all equations hold (to `ftol`): for a dependent set, that it is free of contradiction.
    pub consistent: bool,
    /// Whether the iteration settled (at a solution or at a least-squares minimum).
    pub converged: bool,
}

/// Minimizes the weighted residual from the guess in `z`. `Err` if the residual cannot be evaluated at the guess.
pub fn least_squares<S: ResidualSystem + ?Sized>(
    sys: &mut S,
    z: &mut [f64],
    opts: &LeastSquaresOptions,
) -> Result<LeastSquaresReport, DomainError> {
    let (m, n) = (sys.equations(), sys.unknowns());
    let newton = &opts.newton;
    let z = &mut z[..n];
    for j in 0..n {
        z[j] = newton.clamp(j, z[j]);
    }
    let mut r = vec![0.0; m];
    if z.iter().any(|v| !v.is_finite()) {
        return Err(DomainError);
    }
    checked(sys.residual(z, &mut r), &r)?;
    let mut jac = vec![0.0; m * n];
    let mut shifted = vec![0.0; m];
    let mut weight: Option<Vec<f64>> = (opts.row_weight.len() == m && m > 0).then(|| opts.row_weight.clone());
    let mut report = LeastSquaresReport::default();
    let mut qr = PivotedQr::default();
    let mut rank_tol = opts.rank_tol;
    let mut step = vec![0.0; n];
    let mut scales = vec![1.0; n];
    let mut previous = f64::INFINITY;
    loop {
        jac.fill(0.0);
        let analytic = sys.jacobian(z, &mut jac)?;
        if !analytic {
            rank_tol = rank_tol.max(1e-7);
            let scale = |j: usize, z_j: f64| newton.nominal_of(j).map(|v| v.max(z_j.abs()));
            finite_differences(
                |z, r| sys.residual(z, r),
                z,
                &r,
                scale,
                |j| newton.bounds_of(j),
                &mut shifted,
                &mut jac,
            )?;
        }
        if jac.iter().any(|v| !v.is_finite()) {
            return Err(DomainError);
        }
        for j in 0..n {
            scales[j] = newton.weight(j, z[j]);
        }
        let weight = weight.get_or_insert_with(|| {
            (0..m)
                .map(|i| {
                    let s: f64 = (0..n).map(|j| jac[i + j * m].abs() * scales[j]).sum();
                    if s > 0.0 && s.is_finite() { 1.0 / s } else { 1.0 }
                })
                .collect()
        });
        for j in 0..n {
            for i in 0..m {
                jac[i + j * m] *= weight[i] * scales[j];
            }
        }
        qr.factor(m, n, &jac, rank_tol);
        report.rank = qr.rank();
        let finish = |report: &mut LeastSquaresReport, r: &[f64], converged: bool| {
            report.converged = converged;
            (report.residual_norm, report.worst_row) =
                (0..m).map(|i| ((r[i] * weight[i]).abs(), i)).fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
            report.consistent = report.residual_norm <= newton.ftol;
            report.undetermined = qr.permutation()[qr.rank()..].to_vec();
            report.undetermined.sort_unstable();
            if report.rank < m {
                let mut transposed = vec![0.0; m * n];
                for j in 0..n {
                    for i in 0..m {
                        transposed[j + i * n] = jac[i + j * m];
                    }
                }
                let mut rows = PivotedQr::default();
                rows.factor(n, m, &transposed, rank_tol);
                report.dependent = rows.permutation()[rows.rank()..].to_vec();
                report.dependent.sort_unstable();
            }
        };
        let merit = |r: &[f64]| r.iter().zip(weight.iter()).map(|(r, w)| (r * w) * (r * w)).sum::<f64>().sqrt();
        let before = merit(&r);
        if before == 0.0 || report.rank == 0 {
            finish(&mut report, &r, true);
            return Ok(report);
        }
        let mut rhs: Vec<f64> = r.iter().zip(weight.iter()).map(|(r, w)| -r * w).collect();
        qr.solve(&mut rhs, &mut step);
        for j in 0..n {
            step[j] *= scales[j];
        }
        let size = (0..n).map(|j| step[j].abs() / newton.judge(j, z[j])).fold(0.0f64, f64::max);
        if report.iterations >= newton.max_iter || !size.is_finite() {
            finish(&mut report, &r, false);
            return Ok(report);
        }
        report.iterations += 1;
        let mut lambda = 1.0;
        let mut moved = false;
        while lambda > 1e-8 {
            let trial: Vec<f64> = (0..n).map(|j| newton.clamp(j, z[j] + lambda * step[j])).collect();
            let mut r_trial = vec![0.0; m];
            if checked(sys.residual(&trial, &mut r_trial), &r_trial).is_ok() && merit(&r_trial) < before {
                moved = trial != z;
                z.copy_from_slice(&trial);
                r = r_trial;
                break;
            }
            lambda *= 0.5;
        }
        let after = merit(&r);
        let settled = size <= newton.xtol && (size > 0.1 * previous || size <= 4.0 * f64::EPSILON);
        // Gauss–Newton creeps at an inconsistent minimum: a stalled merit is the end too.
        if !moved || settled || after > before * (1.0 - 1e-14) {
            let small = size <= newton.xtol.sqrt() || after <= 1e-13;
            finish(&mut report, &r, small || settled);
            return Ok(report);
        }
        previous = size;
    }
}
