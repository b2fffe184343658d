//! Jacobians of f and the matrices σI − ∂f/∂x that implicit methods factor.

use super::control::{Core, Failure, eval_rhs, increment, worst, wrms};
use super::{OdeSystem, Options, Restart, Stats};
use crate::linear::{LinearSolver, Pattern, Scalar, Singular};

/// ∂f/∂x, either full column-major or by the entries of a pattern.
#[derive(Debug, Clone)]
pub struct JacobianMatrix {
    n: usize,
    pattern: Option<Pattern>,
    values: Vec<f64>,
    /// Whose values these are, as far as told; 0 after any change.
    stamp: u64,
}

impl JacobianMatrix {
    /// A zero matrix; `None` is a full pattern.
    pub fn new(n: usize, pattern: Option<&Pattern>) -> Self {
        let values = vec![0.0; pattern.map_or(n * n, Pattern::nnz)];
        JacobianMatrix { n, pattern: pattern.cloned(), values, stamp: 0 }
    }

    /// Number of rows and columns.
    pub fn dim(&self) -> usize {
        self.n
    }

    /// The pattern, or `None` if the matrix is full and column-major.
    pub fn pattern(&self) -> Option<&Pattern> {
        self.pattern.as_ref()
    }

    /// Values, in pattern order or column-major.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Values to fill, in pattern order or column-major.
    pub fn values_mut(&mut self) -> &mut [f64] {
        self.stamp = 0;
        &mut self.values
    }

    /// What [`Self::set_stamp`] was given, if nothing has changed since; else 0. Whoever fills the matrix sees by it that there is
    /// nothing to do.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Marks the values, all of them numbers, as they are.
    pub fn set_stamp(&mut self, stamp: u64) {
        self.stamp = stamp;
    }

    fn index(&self, i: usize, j: usize) -> Option<usize> {
        match &self.pattern {
            Some(p) => p.find(i, j),
            None => Some(j * self.n + i),
        }
    }

    /// Entry (i, j); zero outside the pattern.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.index(i, j).map_or(0.0, |k| self.values[k])
    }

    /// Sets entry (i, j) = ∂f_i/∂x_j, which must be in the pattern.
    pub fn set(&mut self, i: usize, j: usize, v: f64) {
        let k = self.index(i, j).expect("entry outside the pattern");
        self.values_mut()[k] = v;
    }

    /// Adds to entry (i, j).
    pub fn add(&mut self, i: usize, j: usize, v: f64) {
        let k = self.index(i, j).expect("entry outside the pattern");
        self.values_mut()[k] += v;
    }

    /// y = J x.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for j in 0..self.n {
            self.for_column(j, |i, k| y[i] += self.values[k] * x[j]);
        }
    }

    /// Visits the entries of column j with their rows.
    pub(crate) fn for_column_mut(&mut self, j: usize, mut visit: impl FnMut(usize, &mut f64)) {
        self.stamp = 0;
        match &self.pattern {
            Some(p) => p.range(j).for_each(|k| visit(p.row_indices()[k], &mut self.values[k])),
            None => self.values[j * self.n..(j + 1) * self.n].iter_mut().enumerate().for_each(|(i, v)| visit(i, v)),
        }
    }

    fn for_column(&self, j: usize, mut visit: impl FnMut(usize, usize)) {
        match &self.pattern {
            Some(p) => p.range(j).for_each(|k| visit(p.row_indices()[k], k)),
            None => (0..self.n).for_each(|i| visit(i, j * self.n + i)),
        }
    }
}

/// Finite differences, one evaluation per group of columns that share no row.
#[derive(Debug, Clone, Default)]
pub struct DifferenceJacobian {
    /// Columns sorted by group; group g is `ptr[g]..ptr[g + 1]`.
    columns: Vec<usize>,
    ptr: Vec<usize>,
    xp: Vec<f64>,
    fp: Vec<f64>,
    del: Vec<f64>,
}

impl DifferenceJacobian {
    /// Colours the pattern (`None`: full).
    pub fn new(n: usize, pattern: Option<&Pattern>) -> Self {
        let v = vec![0.0; n];
        let (mut columns, mut ptr) = ((0..n).collect::<Vec<_>>(), (0..=n).collect::<Vec<_>>());
        if let Some(p) = pattern {
            let (colour, count) = p.colour_columns();
            columns.sort_by_key(|&j| colour[j]);
            ptr = vec![0; count + 1];
            colour.iter().for_each(|&c| ptr[c + 1] += 1);
            (0..count).for_each(|c| ptr[c + 1] += ptr[c]);
        }
        DifferenceJacobian { columns, ptr, xp: v.clone(), fp: v.clone(), del: v }
    }

    /// Evaluations one Jacobian takes.
    pub fn groups(&self) -> usize {
        self.ptr.len() - 1
    }

    /// Columns perturbed together.
    pub(crate) fn group(&self, g: usize) -> &[usize] {
        &self.columns[self.ptr[g]..self.ptr[g + 1]]
    }

    /// Differences with [`increment`]s in the direction of the motion; if f cannot be
    /// evaluated there, in the other. `w` holds 1/W, `f0` is f(t, x).
    pub(crate) fn eval(
        &mut self,
        sys: &mut dyn OdeSystem,
        stats: &mut Stats,
        t: f64,
        x: &[f64],
        f0: &[f64],
        w: &[f64],
        h: f64,
        jac: &mut JacobianMatrix,
    ) -> Result<(), Failure> {
        let largest = x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        self.xp.copy_from_slice(x);
        for g in 0..self.groups() {
            let group = &self.columns[self.ptr[g]..self.ptr[g + 1]];
            let mut sign = 1.0;
            loop {
                for &j in group {
                    let hx = h * f0[j];
                    let size = increment(x[j], hx, w[j], largest);
                    let del = sign * if hx < 0.0 { -size } else { size };
                    self.xp[j] = x[j] + del;
                    self.del[j] = self.xp[j] - x[j];
                }
                match eval_rhs(sys, stats, t, &self.xp, &mut self.fp) {
                    Ok(()) => break,
                    Err(Failure::Fatal) => return Err(Failure::Fatal),
                    Err(e) if sign < 0.0 => return Err(e),
                    Err(_) => sign = -1.0,
                }
            }
            for &j in group {
                self.xp[j] = x[j];
                let inv = 1.0 / self.del[j];
                jac.for_column_mut(j, |i, v| *v = (self.fp[i] - f0[i]) * inv);
            }
        }
        Ok(())
    }
}

/// The Jacobian of a system, analytic if it has one.
pub(crate) struct Jacobian {
    pub matrix: JacobianMatrix,
    /// Made when a Jacobian is first asked for in vain.
    differences: Option<DifferenceJacobian>,
    set_up: bool,
}

impl Jacobian {
    pub fn new(n: usize) -> Self {
        let matrix = JacobianMatrix { n, pattern: None, values: Vec::new(), stamp: 0 };
        Jacobian { matrix, differences: None, set_up: false }
    }

    /// Adopts the system's pattern; true if it is new and everything built on the old one is void.
    pub fn set_up(&mut self, sys: &dyn OdeSystem) -> bool {
        let p = sys.sparsity();
        if self.set_up && p == self.matrix.pattern.as_ref() {
            return false;
        }
        let n = self.matrix.n;
        self.matrix = JacobianMatrix::new(n, p);
        self.differences = None;
        self.set_up = true;
        true
    }

    /// Makes what difference Jacobians need, for a method that may want one only in the middle of a run.
    pub fn expect_differences(&mut self) {
        if self.differences.is_none() {
            self.differences = Some(DifferenceJacobian::new(self.matrix.n, self.matrix.pattern.as_ref()));
        }
    }

    pub fn eval(
        &mut self,
        sys: &mut dyn OdeSystem,
        stats: &mut Stats,
        t: f64,
        x: &[f64],
        f0: &[f64],
        w: &[f64],
        h: f64,
    ) -> Result<(), Failure> {
        stats.jac_evals += 1;
        if self.matrix.stamp == 0 {
            self.matrix.values.fill(0.0);
        }
        if !sys.jacobian(t, x, &mut self.matrix)? {
            self.expect_differences();
            let Some(differences) = &mut self.differences else { return Err(Failure::Fatal) };
            differences.eval(sys, stats, t, x, f0, w, h, &mut self.matrix)?;
        } else if self.matrix.stamp == 0
            && let Some(k) = self.matrix.values.iter().position(|v| !v.is_finite())
        {
            let component = match &self.matrix.pattern {
                Some(p) => p.row_indices()[k],
                None => k % self.matrix.n,
            };
            return Err(Failure::NonFinite { t, component });
        }
        Ok(())
    }
}

/// LU factors of σI − J.
pub(crate) struct IterationMatrix<T: Scalar> {
    solver: Option<LinearSolver<T>>,
    values: Vec<T>,
    /// Position of each Jacobian entry, and of the diagonal.
    map: Vec<usize>,
    diag: Vec<usize>,
    /// Of GMRES since the last factorization.
    krylov_iters: usize,
}

/// Newton corrects what GMRES leaves; Rosenbrock's stages cannot, and k is as large as 1/rtol in its weights.
pub(crate) fn krylov_tolerance(opts: &Options) -> f64 {
    (0.01 * opts.rtol).clamp(1e-12, 1e-4)
}

impl<T: Scalar> IterationMatrix<T> {
    pub fn new() -> Self {
        IterationMatrix { solver: None, values: Vec::new(), map: Vec::new(), diag: Vec::new(), krylov_iters: 0 }
    }

    pub fn set_up(&mut self, jac: &JacobianMatrix, opts: &Options) {
        let n = jac.n;
        let (solver, nnz);
        match &jac.pattern {
            Some(p) => {
                let all = p.with_diagonal();
                let at = |(i, j)| all.find(i, j).expect("pattern with diagonal");
                self.map = p.entries().map(at).collect();
                self.diag = (0..n).map(|i| at((i, i))).collect();
                (solver, nnz) = (LinearSolver::choose(&all, opts.linear, krylov_tolerance(opts)), all.nnz());
            }
            None => {
                self.map = (0..n * n).collect();
                self.diag = (0..n).map(|i| i * n + i).collect();
                (solver, nnz) = (LinearSolver::dense(n), n * n);
            }
        }
        self.solver = Some(solver);
        self.values = vec![T::ZERO; nnz];
    }

    /// Factors σI − J; `w` holds 1/W.
    pub fn factor(&mut self, jac: &JacobianMatrix, sigma: T, w: &[f64], stats: &mut Stats) -> Result<(), Failure> {
        stats.lu_factorizations += 1;
        self.values.fill(T::ZERO);
        for (&k, &v) in self.map.iter().zip(&jac.values) {
            self.values[k] = T::from(-v);
        }
        for &k in &self.diag {
            self.values[k] += sigma;
        }
        let solver = self.solver.as_mut().expect("set up before factoring");
        solver.weigh(w);
        stats.krylov_iters += std::mem::take(&mut self.krylov_iters);
        solver.factor(&self.values).map_err(|Singular { column, .. }| Failure::Newton { component: column })
    }

    pub fn solve(&mut self, b: &mut [T]) {
        let solver = self.solver.as_mut().expect("factored before solving");
        let before = solver.krylov();
        solver.solve(b);
        if let (Some(a), Some(b)) = (before, solver.krylov()) {
            self.krylov_iters += b.0 - a.0;
        }
    }

    /// Fails, soon after a restart, if the real σ lies below an eigenvalue of J: a mode that grows faster than the step can
    /// see. An implicit method would damp it and follow a solution that nothing holds (a comparator that should flip stays).
    pub fn see_growth(&mut self, core: &Core) -> Result<(), Failure> {
        let solver = self.solver.as_mut().expect("factored before");
        match core.young() && solver.determinant_is_negative() {
            true => Err(Failure::Newton { component: 0 }),
            false => Ok(()),
        }
    }
}

/// Simplified Newton for a stage y = base + hγ f(t, y) of a diagonally implicit method, with one factorization of
/// σI − J, σ = 1/(hγ), for as many stages and steps as it serves.
pub(crate) struct StageNewton {
    pub jac: Jacobian,
    matrix: IterationMatrix<f64>,
    delta: Vec<f64>,
    f: Vec<f64>,
    /// hγ of the factored matrix, zero if there is none.
    factored: f64,
    jac_valid: bool,
    /// Evaluated at the start of the present step.
    jac_current: bool,
    /// Slowest convergence since the Jacobian was evaluated, in this step.
    rate: f64,
    age: usize,
}

/// Corrections below this, in units of the tolerance, are noise.
pub(crate) const NOISE: f64 = 1e-9;

/// Steps that an old matrix may serve without a sight of how fast the iteration converges.
pub(crate) const UNSEEN: usize = 4;

const STAGE_ITERATIONS: usize = 8;
/// Iterations stop when the error left is this part of the tolerance.
const STAGE_TOL: f64 = 0.02;

impl StageNewton {
    pub fn new(n: usize) -> Self {
        StageNewton {
            jac: Jacobian::new(n),
            matrix: IterationMatrix::new(),
            delta: vec![0.0; n],
            f: vec![0.0; n],
            factored: 0.0,
            jac_valid: false,
            jac_current: false,
            rate: 0.0,
            age: 0,
        }
    }

    pub fn start(&mut self, sys: &mut dyn OdeSystem, opts: &Options, kind: Restart) {
        let new = self.jac.set_up(sys);
        if new {
            self.matrix.set_up(&self.jac.matrix, opts);
        }
        if new || kind != Restart::Hot {
            (self.jac_valid, self.factored) = (false, 0.0);
        }
        self.jac_current = false;
    }

    /// A Jacobian at the start of the step if the old one will not do, and factors for this hγ.
    pub fn prepare(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, hg: f64) -> Result<(), Failure> {
        if !self.jac_valid {
            // core.dx comes from the stage equations: too inexact for differences.
            eval_rhs(sys, &mut core.stats, core.t, &core.x, &mut self.f)?;
            self.jac.eval(sys, &mut core.stats, core.t, &core.x, &self.f, &core.w, hg)?;
            (self.jac_valid, self.jac_current, self.factored, self.age) = (true, true, 0.0, 0);
        }
        if self.factored != hg {
            self.factored = 0.0;
            self.matrix.factor(&self.jac.matrix, 1.0 / hg, &core.w, &mut core.stats)?;
            self.matrix.see_growth(core)?;
            self.factored = hg;
        }
        self.rate = 0.0;
        Ok(())
    }

    /// Solves one stage from the guess in y.
    pub fn solve(
        &mut self,
        sys: &mut dyn OdeSystem,
        stats: &mut Stats,
        t: f64,
        base: &[f64],
        hg: f64,
        w: &[f64],
        y: &mut [f64],
    ) -> Result<(), Failure> {
        let mut old = 0.0;
        let mut theta: f64 = 0.5;
        // An old matrix that is far too large makes corrections that are far too small: how fast they shrink tells.
        let unseen = !self.jac_current && self.rate == 0.0;
        for m in 0..STAGE_ITERATIONS {
            stats.newton_iters += 1;
            eval_rhs(sys, stats, t, y, &mut self.f)?;
            for i in 0..y.len() {
                self.delta[i] = self.f[i] - (y[i] - base[i]) / hg;
            }
            self.matrix.solve(&mut self.delta);
            y.iter_mut().zip(&self.delta).for_each(|(y, d)| *y += d);
            let del = wrms(&self.delta, w);
            if del == 0.0 {
                return Ok(());
            }
            if m > 0 {
                theta = del / old;
                self.rate = self.rate.max(theta);
            }
            let slow = theta >= 0.9 && unseen && del > NOISE;
            if !del.is_finite() || theta >= 1.5 || (theta >= 0.99 && m > 1) || slow {
                break;
            }
            let left = if m == 0 { del } else { del * theta / (1.0 - theta).max(0.01) };
            if left <= STAGE_TOL && (m > 0 || !unseen || del <= NOISE) {
                return Ok(());
            }
            old = del;
        }
        Err(Failure::Newton { component: worst(&self.delta, w) })
    }

    /// Whether a fresh Jacobian may cure this failure; if so the old one is dropped.
    pub fn blame_jacobian(&mut self, e: Failure) -> bool {
        let blame = matches!(e, Failure::Newton { .. }) && !self.jac_current;
        if blame {
            self.jac_valid = false;
        }
        blame
    }

    /// v ← (I − hγJ)⁻¹ v · hγ.
    pub fn filter(&mut self, v: &mut [f64]) {
        self.matrix.solve(v);
    }

    /// The step is taken: the Jacobian is now an old one, kept while it converges fast.
    pub fn accepted(&mut self) {
        self.jac_current = false;
        self.age += 1;
        if self.rate > 0.1 || self.age > 50 {
            self.jac_valid = false;
        }
    }
}
