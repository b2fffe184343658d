//! a ∂F/∂x + b ∂F/∂x', analytic or by differences, and its factors.

use super::DaeSystem;
use crate::linear::{LinearSolver, Singular};
use crate::ode::control::{Failure, increment};
use crate::ode::iteration::krylov_tolerance;
use crate::ode::{DifferenceJacobian, JacobianMatrix, Options, Stats};

/// Evaluates F and sees to it that the result is finite.
pub(crate) fn eval_residual(
    sys: &mut dyn DaeSystem,
    stats: &mut Stats,
    t: f64,
    x: &[f64],
    xp: &[f64],
    r: &mut [f64],
) -> Result<(), Failure> {
    stats.rhs_evals += 1;
    sys.residual(t, x, xp, r)?;
    if !r.iter().sum::<f64>().is_finite()
        && let Some(component) = r.iter().position(|v| !v.is_finite())
    {
        return Err(Failure::NonFinite { t, component });
    }
    Ok(())
}

/// The linearized system with its factorization.
pub(crate) struct Linearized {
    n: usize,
    set_up: bool,
    pub matrix: JacobianMatrix,
    other: JacobianMatrix,
    /// Made when a Jacobian is first asked for in vain.
    differences: Option<DifferenceJacobian>,
    solver: Option<LinearSolver>,
    /// Factor of each row at the last factorization.
    row_scale: Vec<f64>,
    /// Products by GMRES.
    krylov_iters: usize,
    scaled: Vec<f64>,
    xp: Vec<f64>,
    xpp: Vec<f64>,
    rp: Vec<f64>,
    del: Vec<f64>,
}

impl Linearized {
    pub fn new(n: usize) -> Self {
        let v = || vec![0.0; n];
        Linearized {
            n,
            set_up: false,
            matrix: JacobianMatrix::new(0, None),
            other: JacobianMatrix::new(0, None),
            differences: None,
            solver: None,
            row_scale: vec![1.0; n],
            krylov_iters: 0,
            scaled: Vec::new(),
            xp: v(),
            xpp: v(),
            rp: v(),
            del: v(),
        }
    }

    /// Adopts the system's pattern; true if it is a new one.
    pub fn set_up(&mut self, sys: &dyn DaeSystem, opts: &Options) -> bool {
        let p = sys.sparsity();
        if self.set_up && p == self.matrix.pattern() {
            return false;
        }
        self.matrix = JacobianMatrix::new(self.n, p);
        self.differences = None;
        self.solver = Some(match p {
            Some(p) => LinearSolver::choose(p, opts.linear, krylov_tolerance(opts)),
            None => LinearSolver::dense(self.n),
        });
        self.scaled = vec![0.0; self.matrix.values().len()];
        self.set_up = true;
        true
    }

    /// a ∂F/∂x + b ∂F/∂x' at (t, x, x'), where the residual is r0. `w` holds 1/W.
    pub fn eval(
        &mut self,
        sys: &mut dyn DaeSystem,
        stats: &mut Stats,
        t: f64,
        x: &[f64],
        xp: &[f64],
        r0: &[f64],
        (a, b): (f64, f64),
        h: f64,
        w: &[f64],
    ) -> Result<(), Failure> {
        stats.jac_evals += 1;
        self.matrix.values_mut().fill(0.0);
        let analytic = if a != 0.0 {
            sys.jacobian(t, x, xp, b / a, &mut self.matrix)?
        } else {
            // ∂F/∂x' as a difference of two linear combinations.
            self.other = JacobianMatrix::new(self.n, sys.sparsity());
            let yes = sys.jacobian(t, x, xp, 1.0, &mut self.matrix)? && sys.jacobian(t, x, xp, 0.0, &mut self.other)?;
            self.matrix.values_mut().iter_mut().zip(self.other.values()).for_each(|(m, o)| *m = b * (*m - o));
            yes
        };
        if !analytic {
            return self.by_differences(sys, stats, t, x, xp, r0, (a, b), h, w);
        }
        if a != 0.0 && a != 1.0 {
            self.matrix.values_mut().iter_mut().for_each(|m| *m *= a);
        }
        if let Some(k) = self.matrix.values().iter().position(|v| !v.is_finite()) {
            let component = self.matrix.pattern().map_or(k % self.n, |p| p.row_indices()[k]);
            return Err(Failure::NonFinite { t, component });
        }
        Ok(())
    }

    /// Differences with [`increment`]s signed as h x'_j; the other way if F fails there.
    fn by_differences(
        &mut self,
        sys: &mut dyn DaeSystem,
        stats: &mut Stats,
        t: f64,
        x: &[f64],
        xp: &[f64],
        r0: &[f64],
        (a, b): (f64, f64),
        h: f64,
        w: &[f64],
    ) -> Result<(), Failure> {
        let root = f64::EPSILON.sqrt();
        let largest = x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let differences =
            self.differences.get_or_insert_with(|| DifferenceJacobian::new(self.n, self.matrix.pattern()));
        self.xp.copy_from_slice(x);
        self.xpp.copy_from_slice(xp);
        for g in 0..differences.groups() {
            let mut sign = 1.0;
            loop {
                for &j in differences.group(g) {
                    let hx = h * xp[j];
                    let mut size = increment(x[j], hx, w[j], largest);
                    if a == 0.0 {
                        size = size.max(root * xp[j].abs());
                    }
                    let del = sign * if hx < 0.0 { -size } else { size };
                    // A difference the machine can represent where it is added.
                    let del = if a == 0.0 { ((xp[j] + b * del) - xp[j]) / b } else { ((x[j] + a * del) - x[j]) / a };
                    self.xp[j] = x[j] + a * del;
                    self.xpp[j] = xp[j] + b * del;
                    self.del[j] = del;
                }
                match eval_residual(sys, stats, t, &self.xp, &self.xpp, &mut self.rp) {
                    Ok(()) => break,
                    Err(Failure::Fatal) => return Err(Failure::Fatal),
                    Err(e) if sign < 0.0 => return Err(e),
                    Err(_) => sign = -1.0,
                }
            }
            for &j in differences.group(g) {
                (self.xp[j], self.xpp[j]) = (x[j], xp[j]);
                let inv = 1.0 / self.del[j];
                self.matrix.for_column_mut(j, |i, v| *v = (self.rp[i] - r0[i]) * inv);
            }
            // A column without any difference would make the matrix singular: perhaps the increment drowned.
            for &j in differences.group(g) {
                let mut empty = true;
                self.matrix.for_column_mut(j, |_, v| empty &= *v == 0.0);
                if !empty {
                    continue;
                }
                let del = root * x[j].abs().max(1e-4 * largest).max(1e-4);
                (self.xp[j], self.xpp[j]) = (x[j] + a * del, xp[j] + b * del);
                if eval_residual(sys, stats, t, &self.xp, &self.xpp, &mut self.rp).is_ok() {
                    self.matrix.for_column_mut(j, |i, v| *v = (self.rp[i] - r0[i]) / del);
                }
                (self.xp[j], self.xpp[j]) = (x[j], xp[j]);
            }
        }
        Ok(())
    }

    /// Factors the matrix with algebraic rows multiplied by `scale`.
    pub fn factor(&mut self, sys: &dyn DaeSystem, scale: f64, w: &[f64], stats: &mut Stats) -> Result<(), Failure> {
        stats.lu_factorizations += 1;
        for i in 0..self.n {
            self.row_scale[i] = if sys.is_algebraic_equation(i) { scale } else { 1.0 };
        }
        let (n, values) = (self.n, self.matrix.values());
        match self.matrix.pattern() {
            Some(p) => {
                for ((s, v), &i) in self.scaled.iter_mut().zip(values).zip(p.row_indices()) {
                    *s = v * self.row_scale[i];
                }
            }
            None => {
                for (k, (s, v)) in self.scaled.iter_mut().zip(values).enumerate() {
                    *s = v * self.row_scale[k % n];
                }
            }
        }
        let solver = self.solver.as_mut().expect("set up before factoring");
        // Residuals are in other units than the unknowns: an iteration weighs them as it finds them.
        solver.weigh(w);
        stats.krylov_iters = self.krylov_iters;
        solver.factor(&self.scaled).map_err(|Singular { column, .. }| Failure::Newton { component: column })
    }

    /// b ← M⁻¹ b.
    pub fn solve(&mut self, b: &mut [f64]) {
        b.iter_mut().zip(&self.row_scale).for_each(|(b, s)| *b *= s);
        let solver = self.solver.as_mut().expect("factored before solving");
        solver.solve(b);
        self.krylov_iters = solver.krylov().map_or(0, |k| k.0);
    }
}
