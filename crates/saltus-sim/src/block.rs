//! Simultaneous equations: Newton's method on the torn unknowns of a loop, or on all of them (mathematics, section 5).

use crate::compile::Step;
use crate::elimination::Elimination;
use crate::losses::Lossy;
use crate::machine::{BlockMethod, Findings, Machine, Note, Trouble};
use crate::spans::Spans;
use rustc_hash::FxHashMap;
use saltus_dae::Row;
use saltus_graph::{Bipartite, hopcroft_karp};
use saltus_program::{Chain, NEGATE, slot_of};
use saltus_solver::linear::LinearSolver;
use saltus_solver::nonlinear::dense::PivotedQr;
use saltus_solver::nonlinear::{
    DomainError, FnSystem, Homotopy, HomotopyFailure, HomotopyOptions, Method, NonlinearSystem, SolveOptions,
    continuation, solve,
};
use saltus_structure::Cell;
use std::cell::RefCell;

/// Equations solved together by Newton's method (one step if linear).
pub struct SolveBlock {
    /// Slots of the unknowns.
    pub unknowns: Vec<u32>,
    /// The same as stretches.
    pub spans: Spans,
    /// Where each unknown is in a copy of the stretches.
    pub positions: Vec<u32>,
    /// What they are.
    pub cells: Vec<Cell>,
    /// Where the equations come from: (equation, level).
    pub sources: Vec<(usize, u8)>,
    /// The equations `row = 0`.
    pub rows: Vec<Row>,
    /// Computes the residuals.
    pub residual: Chain,
    /// Where they are.
    pub residual_slots: Vec<u32>,
    /// Computes the Jacobian entries.
    pub jacobian: Chain,
    /// (position in the pattern, slot, sign).
    pub entries: Vec<(usize, u32, f64)>,
    /// The same as (row, column).
    pub places: Vec<(usize, usize)>,
    /// No Jacobian entry depends on an unknown of the block.
    pub linear: bool,
    /// What the Jacobian entries depend on, if all of it is constant between events.
    pub fixed: Option<Vec<u32>>,
    /// Whether conditions decide which entries of the Jacobian are zero.
    pub conditional: bool,
    /// Typical sizes of the unknowns.
    pub nominal: Vec<f64>,
    /// Slots of bounds, where given.
    pub bounds: Vec<(Option<u32>, Option<u32>)>,
    /// Whether `homotopy()` stands in one of the equations.
    pub homotopy: bool,
    /// The unknowns that a user has to guess: those torn, if the block is nonlinear.
    pub guessed: Vec<Cell>,
    /// How the block is torn.
    pub torn: Torn,
    /// Memory of the solver.
    pub work: RefCell<SolveWork>,
}

/// A torn block: inner unknowns w follow from the torn ones v by assignments, w = w(v).
#[derive(Default)]
pub struct Torn {
    /// Positions of the torn unknowns.
    pub tears: Vec<u32>,
    /// Assigns the inner unknowns.
    pub inner: Chain,
    /// The same, and the residuals left.
    pub evaluation: Chain,
    /// Slots of these residuals.
    pub residual_slots: Vec<u32>,
    /// Which rows of the block they are.
    pub residual_rows: Vec<u32>,
    /// From the Jacobian of all unknowns to that of the torn ones.
    pub elimination: Elimination,
    /// The Jacobian and its elimination, where no conditions need to be looked at between them.
    pub reduction: Chain,
    /// The evaluation and the reduction, where every solution needs both.
    pub at_once: Chain,
    /// Whether Newton's method iterates on the torn unknowns alone.
    pub used: bool,
}

/// Memory of a block's solver.
pub struct SolveWork {
    /// On all unknowns.
    pub full: NewtonWork,
    /// On the torn ones.
    pub torn: NewtonWork,
    /// The Jacobian.
    pub reduction: Reduction,
    /// The unknowns before, as stretches and one by one.
    saved: Vec<f64>,
    start: Vec<f64>,
    /// How often the torn iteration failed; after a few times it is no longer tried.
    failures: u8,
    /// Whether the Jacobian factored last for right-hand sides is that of the torn unknowns.
    reduced: bool,
    /// With small losses, where they have been needed.
    pub(crate) lossy: Option<Box<Lossy>>,
    /// Right-hand sides on their way through the inner rows, and one of them.
    columns: Vec<f64>,
    column: Vec<f64>,
}

/// Memory for the Jacobian of a block and its reduction to the torn unknowns.
pub struct Reduction {
    /// Values of the Jacobian of all unknowns.
    pub values: Vec<f64>,
    /// dr/dv.
    matrix: Vec<f64>,
    /// Positions of a transversal of entries that were not zero when last looked at.
    transversal: Vec<usize>,
    /// Which entries were zero when unknowns were last left open by that, and how many.
    singular: (Vec<bool>, usize),
}

/// Memory of one Newton iteration.
pub struct NewtonWork {
    lu: LinearSolver,
    /// The factorization is usable.
    factored: bool,
    /// Values of [`SolveBlock::fixed`] it was made with.
    fixed: Vec<f64>,
    /// Iterate, its residual, the update, the next iterate, its residual.
    z: Vec<f64>,
    r: Vec<f64>,
    dz: Vec<f64>,
    trial: Vec<f64>,
    rr: Vec<f64>,
}

impl NewtonWork {
    fn new(lu: LinearSolver) -> NewtonWork {
        let n = lu.dim();
        NewtonWork::sized(lu, n)
    }

    /// For `n` unknowns that are some of those of the matrix.
    fn sized(lu: LinearSolver, n: usize) -> NewtonWork {
        let v = || vec![0.0; n];
        NewtonWork { lu, factored: false, fixed: Vec::new(), z: v(), r: v(), dz: v(), trial: v(), rr: v() }
    }
}

impl SolveWork {
    /// Memory for a block with `nnz` Jacobian entries, factored by `lu`, and this tearing.
    pub fn new(nnz: usize, lu: LinearSolver, torn: &Torn) -> SolveWork {
        let tears = if torn.used { torn.tears.len() } else { 0 };
        let reduction = Reduction {
            values: vec![0.0; nnz],
            matrix: vec![0.0; tears * tears],
            transversal: Vec::new(),
            singular: (Vec::new(), 0),
        };
        SolveWork {
            full: NewtonWork::new(lu),
            torn: NewtonWork::new(LinearSolver::dense(tears)),
            reduction,
            saved: Vec::new(),
            start: Vec::new(),
            failures: 0,
            reduced: false,
            lossy: None,
            columns: Vec::new(),
            column: Vec::new(),
        }
    }
}

/// Residuals above this are looked at again.
const ROUGH: f64 = 1e-7;

/// How far dw/dv may amplify before the inner chain counts as unstable (a long chain is a shooting method).
const LARGEST_SLOPE: f64 = 1e7;

/// Blocks up to this size are looked at where they are singular.
const SINGULAR: usize = 600;

/// Robust methods work on at most so many torn unknowns: their Jacobian is dense, by differences.
const MOST_REDUCED: usize = 200;

/// The torn iteration is given up after so many failures.
const FAILURES: u8 = 3;

/// What Newton's method iterates on.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Full,
    /// The torn unknowns, steps by their own Jacobian.
    Torn,
    /// The torn unknowns, steps by the Jacobian of all: where the inner equations hold, these are the same steps.
    Swept,
}

impl SolveBlock {
    /// How many unknowns are left open by which entries are zero. Without a transversal of the others rounding alone would make a pivot.
    fn open(&self, j: &mut Reduction) -> usize {
        let n = self.unknowns.len();
        let Reduction { values, transversal: known, singular, .. } = j;
        if known.len() == n && known.iter().all(|&at| values[at] != 0.0) {
            return 0;
        }
        let zero = values.iter().map(|v| *v == 0.0);
        if singular.1 > 0 && zero.clone().eq(singular.0.iter().copied()) {
            return singular.1;
        }
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut position: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        for (&(at, ..), &(i, j)) in self.entries.iter().zip(&self.places) {
            if values[at] != 0.0 && position.insert((i as u32, j as u32), at).is_none() {
                lists[i].push(j as u32);
            }
        }
        let m = hopcroft_karp(&Bipartite::from_rows(n, &lists));
        if m.size < n {
            *singular = (zero.collect(), n - m.size);
        } else {
            let places = m.row_to_col.iter().enumerate();
            *known = places.filter_map(|(i, &j)| position.get(&(i as u32, j)).copied()).collect();
        }
        n - m.size
    }

    /// Whether fewer unknowns than all can be iterated on.
    fn reducible(&self) -> bool {
        !self.linear && !self.torn.inner.is_empty() && self.torn.tears.len() == self.torn.residual_rows.len()
    }

    /// Where the derivative of unknown (or the right-hand side of equation) `k` by the state of a column stands among those of
    /// all columns: on torn unknowns columns are next to each other.
    pub fn place(&self, k: usize, column: usize, columns: usize) -> usize {
        if self.torn.used { k * columns + column } else { column * self.unknowns.len() + k }
    }

    /// Solves for several right-hand sides, placed by [`SolveBlock::place`], with the Jacobian that [`Machine::factor_present`]
    /// has factored at these values. Of the inner unknowns of a torn loop only the `wanted` rows are computed.
    pub fn solve_columns(&self, values: &[f64], wanted: &[u32], b: &mut [f64], columns: usize) {
        let mut guard = self.work.borrow_mut();
        let w = &mut *guard;
        let n = self.unknowns.len();
        if !self.torn.used {
            b.chunks_exact_mut(n).for_each(|right| w.full.lu.solve(right));
            return;
        }
        if !w.reduced {
            w.column.resize(n, 0.0);
            for c in 0..columns {
                w.column.iter_mut().zip(b.iter().skip(c).step_by(columns)).for_each(|(to, from)| *to = *from);
                w.full.lu.solve(&mut w.column);
                w.column.iter().zip(b.iter_mut().skip(c).step_by(columns)).for_each(|(from, to)| *to = *from);
            }
            return;
        }
        let (e, tears) = (&self.torn.elimination, &self.torn.tears);
        w.columns.resize(n * columns, 0.0);
        e.forward(values, b, columns, &mut w.columns);
        let (inner, left) = w.columns.split_at_mut((n - tears.len()) * columns);
        w.column.resize(tears.len(), 0.0);
        for c in 0..columns {
            w.column.iter_mut().zip(left.iter().skip(c).step_by(columns)).for_each(|(to, from)| *to = *from);
            w.torn.lu.solve(&mut w.column);
            w.column.iter().zip(left.iter_mut().skip(c).step_by(columns)).for_each(|(from, to)| *to = *from);
        }
        for (&j, v) in tears.iter().zip(left.chunks_exact(columns)) {
            b[j as usize * columns..][..columns].copy_from_slice(v);
        }
        for &k in wanted {
            let Some(j) = e.rows[k as usize].unknown else { continue };
            let to = &mut b[j as usize * columns..][..columns];
            to.copy_from_slice(&inner[k as usize * columns..][..columns]);
            e.back(values, k as usize, left, columns, to);
        }
    }
}

impl Machine {
    /// Factors a block's Jacobian with respect to all its unknowns at the present values.
    pub fn factor_full(&mut self, b: &SolveBlock) -> bool {
        let mut guard = b.work.borrow_mut();
        let w = &mut *guard;
        w.full.fixed.clear();
        self.factor(b, Form::Full, &mut w.full, &mut w.reduction)
    }

    /// Factors a block's Jacobian at the present values for [`SolveBlock::solve_columns`]: that of the torn unknowns where they
    /// are iterated on.
    pub fn factor_present(&mut self, b: &SolveBlock) -> bool {
        // What the equations determine moves with losses as it does without.
        if let Some(matrix) = self.lossy_jacobian(b) {
            let w = &mut *b.work.borrow_mut();
            (w.reduced, w.full.factored) = (false, false);
            return w.full.lu.factor(&matrix).is_ok();
        }
        let mut guard = b.work.borrow_mut();
        let w = &mut *guard;
        w.reduced = b.torn.used && w.failures < FAILURES && self.factor(b, Form::Torn, &mut w.torn, &mut w.reduction);
        if w.reduced {
            if let Some(fixed) = &b.fixed {
                w.torn.fixed.clear();
                w.torn.fixed.extend(fixed.iter().map(|&s| self.values[s as usize]));
            }
            return true;
        }
        drop(guard);
        self.factor_full(b)
    }

    /// Solves a block: on its torn unknowns, else on all, else by slower and more robust methods.
    pub fn solve(&mut self, b: &SolveBlock) -> Result<(), Trouble> {
        let before = self.host.error.take();
        let bounded = self.plain_relations && self.patient && !b.linear && b.bounds.iter().any(|x| *x != (None, None));
        let guess: Option<Vec<f64>> = bounded.then(|| b.unknowns.iter().map(|&s| self.values[s as usize]).collect());
        let outcome = self.solve_from_guess(b);
        if let Some(guess) = guess.filter(|g| outcome.is_ok() && g.iter().all(|v| v.is_finite())) {
            self.prefer_inside(b, &guess);
        }
        // Functions may fail at iterates on the way; what counts is the end.
        if outcome.is_ok() && self.host.error.take().is_some() {
            self.chain(&b.residual);
        }
        if before.is_some() {
            self.host.error = before;
        }
        outcome
    }

    /// Unknowns beyond their declared bounds, by more than errors explain.
    fn outside(&self, b: &SolveBlock) -> Vec<usize> {
        let beyond = |&k: &usize| {
            let v = self.values[b.unknowns[k] as usize];
            let slack = 1e-6 * v.abs().max(b.nominal[k]);
            let (low, high) = b.bounds[k];
            low.is_some_and(|s| v < self.values[s as usize] - slack)
                || high.is_some_and(|s| v > self.values[s as usize] + slack)
        };
        (0..b.unknowns.len()).filter(beyond).collect()
    }

    /// Where a start has led out of declared bounds, a solution inside is looked for from the same guesses. If there is none
    /// the other one stays, and is noted.
    fn prefer_inside(&mut self, b: &SolveBlock, guess: &[f64]) {
        let outside = self.outside(b);
        if outside.is_empty() || guess.len() > 400 {
            return;
        }
        let keep: Vec<f64> = b.unknowns.iter().map(|&s| self.values[s as usize]).collect();
        let reduced = self.solve_reduced(b, guess).is_some() && !self.at_infinity(b);
        if !reduced {
            let side = |k: &Option<u32>, d: f64| k.map_or(d, |s| self.values[s as usize]);
            let mut options = SolveOptions::default();
            options.newton.nominal = b.nominal.clone();
            options.newton.min = b.bounds.iter().map(|x| side(&x.0, f64::NEG_INFINITY)).collect();
            options.newton.max = b.bounds.iter().map(|x| side(&x.1, f64::INFINITY)).collect();
            options.methods.retain(|m| *m != Method::MultiStart);
            let mut z = guess.to_vec();
            let method = "methods within bounds";
            let led = solve(&mut Sys { machine: self, block: b, method }, &mut z, &options).is_ok();
            self.set_unknowns(b, &z);
            if !led || self.at_infinity(b) || self.at_edge(b) || !self.outside(b).is_empty() {
                self.set_unknowns(b, &keep);
                self.chain(&b.residual);
                self.outside.extend(outside.into_iter().map(|k| b.cells[k]));
            }
        }
        self.host.error = None;
    }

    fn solve_from_guess(&mut self, b: &SolveBlock) -> Result<(), Trouble> {
        if self.journal.is_some() {
            self.note(|| Note::Block { cells: b.cells.clone(), sources: b.sources.clone() });
        }
        if !self.lossy.is_empty() && self.solve_with_losses(b) {
            return Ok(());
        }
        if !self.beside.is_empty() {
            self.beside.retain(|s, _| !b.unknowns.contains(s));
        }
        let mut guard = b.work.borrow_mut();
        let w = &mut *guard;
        let wanted = !self.patient || b.linear || self.methods.contains(&BlockMethod::Ladder(Method::Newton));
        let finite = |v: f64| if v.is_finite() { v } else { 0.0 };
        // One by one the unknowns are only needed if the torn ones do not lead to the others.
        b.spans.save(&self.values, &mut w.saved);
        if wanted && b.torn.used && w.failures < FAILURES {
            for (z, &j) in w.torn.z.iter_mut().zip(&b.torn.tears) {
                *z = finite(self.values[b.unknowns[j as usize] as usize]);
            }
            if self.torn_from_here(b, w) {
                return Ok(());
            }
        }
        let mut start = std::mem::take(&mut w.start);
        start.clear();
        start.extend(b.positions.iter().map(|&p| finite(w.saved[p as usize])));
        if wanted && self.newton_full(b, w, &start) {
            w.start = start;
            return Ok(());
        }
        // Where the course does not lead to a solution, from where the last step ended.
        if !b.linear && self.course.leads && self.course.back(&b.unknowns, &mut start) && wanted {
            self.host.error = None;
            self.set_unknowns(b, &start);
            if self.newton_from(b, w, &start) {
                w.start = start;
                return Ok(());
            }
        }
        if wanted && self.patient && !b.torn.used && b.reducible() {
            self.host.error = None;
            self.set_unknowns(b, &start);
            let z: Vec<f64> = b.torn.tears.iter().map(|&j| start[j as usize]).collect();
            if self.newton_torn(b, w, &z) && !self.at_infinity(b) {
                self.note(|| Note::End { solved: true, how: "Newton on the torn unknowns".into() });
                w.start = start;
                return Ok(());
            }
        }
        drop(guard);
        if !self.regular_only && start.len() <= SINGULAR && self.solve_singular(b, &start) {
            self.degenerate += 1;
            self.note(|| Note::End { solved: true, how: "minimum-norm steps; the Jacobian is singular".into() });
            return Ok(());
        }
        if let Some((0, Some(last))) = &self.patience {
            let last = last.clone();
            self.set_unknowns(b, &start);
            return Err(last);
        }
        if self.stopped() {
            self.set_unknowns(b, &start);
            let (unknowns, equations) = (Vec::new(), Vec::new());
            let reason = "the search was given up".to_string();
            return Err(Trouble::Unsolved { reason, unknowns, equations, findings: Box::default() });
        }
        if wanted && self.solve_nudged(b, &start) && !self.at_infinity(b) {
            self.note(|| Note::End { solved: true, how: "Newton from beside zero".into() });
            return Ok(());
        }
        if self.patient
            && let Some(method) = self.solve_reduced(b, &start)
            && !self.at_infinity(b)
        {
            self.note(|| Note::End { solved: true, how: format!("{method} on the torn unknowns") });
            return Ok(());
        }
        self.solve_patiently(b, &start)
    }

    /// Newton's method on the torn unknowns, else on all of them.
    fn newton_from(&mut self, b: &SolveBlock, w: &mut SolveWork, start: &[f64]) -> bool {
        if b.torn.used && w.failures < FAILURES {
            for (z, &j) in w.torn.z.iter_mut().zip(&b.torn.tears) {
                *z = start[j as usize];
            }
            if self.torn_from_here(b, w) {
                return true;
            }
        }
        self.newton_full(b, w, start)
    }

    /// Newton's method on the torn unknowns from where they are set.
    fn torn_from_here(&mut self, b: &SolveBlock, w: &mut SolveWork) -> bool {
        if self.newton(b, Form::Torn, &mut w.torn, &mut w.reduction) && !self.at_infinity(b) {
            self.note(|| Note::End { solved: true, how: "Newton on the torn unknowns".into() });
            return true;
        }
        w.failures += 1;
        self.host.error = None;
        false
    }

    /// Newton's method on all unknowns.
    fn newton_full(&mut self, b: &SolveBlock, w: &mut SolveWork, start: &[f64]) -> bool {
        self.set_unknowns(b, start);
        w.full.z.copy_from_slice(start);
        let found = self.newton(b, Form::Full, &mut w.full, &mut w.reduction) && !self.at_infinity(b);
        if found {
            self.note(|| Note::End { solved: true, how: "Newton".into() });
        }
        found
    }

    /// Newton's method on the torn unknowns from `z`. Of a block that has too many of them for a Jacobian of their own, steps are
    /// taken by the Jacobian of all: what is assigned from them keeps to its equations all the same, where a step on all
    /// unknowns may lead it out of its domain.
    fn newton_torn(&mut self, b: &SolveBlock, w: &mut SolveWork, z: &[f64]) -> bool {
        if b.torn.used {
            w.torn.z.copy_from_slice(z);
            return self.newton(b, Form::Torn, &mut w.torn, &mut w.reduction);
        }
        let lu = std::mem::replace(&mut w.full.lu, LinearSolver::dense(0));
        let mut swept = NewtonWork::sized(lu, z.len());
        swept.z.copy_from_slice(z);
        let found = self.newton(b, Form::Swept, &mut swept, &mut w.reduction);
        w.full.lu = swept.lu;
        w.full.factored = false;
        found
    }

    /// Robust methods on the torn unknowns alone, the others eliminated: the user's guesses speak of those. They only lead to
    /// where Newton's method converges, within the bounds. Which one did is returned.
    fn solve_reduced(&mut self, b: &SolveBlock, start: &[f64]) -> Option<Method> {
        // In the user's order, as far as the model's own homotopy; random points are the last resort for all unknowns.
        let methods: Vec<Method> = self
            .methods
            .iter()
            .take_while(|m| !(b.homotopy && **m == BlockMethod::Homotopy))
            .filter_map(|m| match m {
                BlockMethod::Ladder(Method::Newton | Method::MultiStart) | BlockMethod::Homotopy => None,
                BlockMethod::Ladder(m) => Some(*m),
            })
            .collect();
        if !b.reducible() || b.torn.tears.len() > MOST_REDUCED || methods.is_empty() {
            return None;
        }
        self.host.error = None;
        self.set_unknowns(b, start);
        let tears: Vec<usize> = b.torn.tears.iter().map(|&j| j as usize).collect();
        let mut options = SolveOptions { methods, ..SolveOptions::default() };
        options.newton.nominal = tears.iter().map(|&j| b.nominal[j]).collect();
        let bound = |me: &Machine, s: Option<u32>, d: f64| s.map_or(d, |s| me.values[s as usize]);
        options.newton.min = tears.iter().map(|&j| bound(self, b.bounds[j].0, f64::NEG_INFINITY)).collect();
        options.newton.max = tears.iter().map(|&j| bound(self, b.bounds[j].1, f64::INFINITY)).collect();
        let mut z: Vec<f64> = tears.iter().map(|&j| start[j]).collect();
        let led = {
            let mut sys = FnSystem::new(tears.len(), |z: &[f64], r: &mut [f64]| {
                if self.residual_of(b, Form::Torn, z, r) { Ok(()) } else { Err(DomainError) }
            });
            solve(&mut sys, &mut z, &options).ok().map(|r| r.method)
        };
        self.host.error = None;
        let mut guard = b.work.borrow_mut();
        let w = &mut *guard;
        let found = led.is_some()
            && self.newton_torn(b, w, &z)
            && b.bounds.iter().zip(&b.unknowns).all(|(x, &s)| {
                let v = self.values[s as usize];
                let slack = 1e-9 * v.abs();
                v >= bound(self, x.0, f64::NEG_INFINITY) - slack && v <= bound(self, x.1, f64::INFINITY) + slack
            });
        self.host.error = None;
        if !found {
            self.set_unknowns(b, start);
        }
        led.filter(|_| found)
    }

    /// Newton's method from guesses beside zero: where a square, a power or a product of unknowns stands, zero is the one guess
    /// at which nothing shows the way (a pressure loss k·m² at m = 0).
    fn solve_nudged(&mut self, b: &SolveBlock, start: &[f64]) -> bool {
        let at_zero = |k: usize| start[k].abs() < 1e-6 * b.nominal[k];
        if b.linear || !(0..start.len()).any(at_zero) {
            return false;
        }
        for side in [0.01, -0.01] {
            self.host.error = None;
            let beside = |k: usize| {
                let bound = |s: Option<u32>| s.map(|s| self.values[s as usize]).filter(|v| v.is_finite());
                let z = start[k] + if at_zero(k) { side * b.nominal[k] } else { 0.0 };
                let z = bound(b.bounds[k].0).map_or(z, |low| z.max(low));
                bound(b.bounds[k].1).map_or(z, |high| z.min(high))
            };
            let z: Vec<f64> = (0..start.len()).map(beside).collect();
            self.set_unknowns(b, &z);
            let mut guard = b.work.borrow_mut();
            let w = &mut *guard;
            if b.torn.used {
                let tears: Vec<f64> = b.torn.tears.iter().map(|&j| z[j as usize]).collect();
                if self.newton_torn(b, w, &tears) {
                    return true;
                }
                self.host.error = None;
                self.set_unknowns(b, &z);
            }
            w.full.z.copy_from_slice(&z);
            if self.newton(b, Form::Full, &mut w.full, &mut w.reduction) {
                return true;
            }
        }
        self.host.error = None;
        self.set_unknowns(b, start);
        false
    }

    pub(crate) fn set_unknowns(&mut self, b: &SolveBlock, z: &[f64]) {
        for (&s, &v) in b.unknowns.iter().zip(z) {
            self.values[s as usize] = v;
        }
    }

    fn gather(&self, slots: &[u32], r: &mut [f64]) -> bool {
        let mut finite = true;
        for (o, &s) in r.iter_mut().zip(slots) {
            *o = self.values[s as usize];
            finite &= o.is_finite();
        }
        finite
    }

    /// Residuals at the iterate `z`, which the unknowns take; false if one is not a number.
    fn residual_of(&mut self, b: &SolveBlock, form: Form, z: &[f64], r: &mut [f64]) -> bool {
        match form {
            Form::Full => self.residual(b, z, r),
            Form::Torn | Form::Swept => self.torn_residual(b, &b.torn.evaluation, z, r),
        }
    }

    /// The same by a chain that evaluates the torn loop.
    fn torn_residual(&mut self, b: &SolveBlock, chain: &Chain, z: &[f64], r: &mut [f64]) -> bool {
        for (&j, &v) in b.torn.tears.iter().zip(z) {
            self.values[b.unknowns[j as usize] as usize] = v;
        }
        if self.stopped() {
            return false;
        }
        self.chain(chain);
        self.gather(&b.torn.residual_slots, r)
    }

    pub(crate) fn residual(&mut self, b: &SolveBlock, z: &[f64], r: &mut [f64]) -> bool {
        self.set_unknowns(b, z);
        if self.stopped() {
            return false;
        }
        self.chain(&b.residual);
        self.gather(&b.residual_slots, r)
    }

    pub(crate) fn jacobian(&mut self, b: &SolveBlock, values: &mut [f64]) -> bool {
        if self.stopped() {
            return false;
        }
        self.chain(&b.jacobian);
        values.fill(0.0);
        for &(at, slot, sign) in &b.entries {
            values[at] += sign * self.values[slot as usize];
        }
        values.iter().all(|v| v.is_finite())
    }

    /// Factors the Jacobian at the present values; for the torn form dr/dv = ∂r/∂v + ∂r/∂w · dw/dv.
    fn factor(&mut self, b: &SolveBlock, form: Form, w: &mut NewtonWork, j: &mut Reduction) -> bool {
        w.factored = false;
        if form == Form::Torn && !b.conditional {
            self.chain(&b.torn.reduction);
        } else if !self.jacobian(b, &mut j.values) || (b.conditional && b.open(j) > 0) {
            return false;
        }
        if form == Form::Torn {
            if b.conditional {
                self.chain(&b.torn.elimination.chain);
            }
            return self.factor_reduced(b, w, j);
        }
        w.factored = w.lu.factor(&j.values).is_ok();
        w.factored
    }

    /// Factors dr/dv once it is computed.
    fn factor_reduced(&mut self, b: &SolveBlock, w: &mut NewtonWork, j: &mut Reduction) -> bool {
        w.factored = self.reduced(b, &mut j.matrix) && w.lu.factor(&j.matrix).is_ok();
        w.factored
    }

    /// dr/dv, column by column; false if an inner chain amplifies too much or something is not a number.
    fn reduced(&mut self, b: &SolveBlock, matrix: &mut [f64]) -> bool {
        let (e, n) = (&b.torn.elimination, b.torn.tears.len());
        let bounded = |v: f64| v.abs() <= LARGEST_SLOPE;
        // Most often what lies between them is small, too.
        if !e.spans.all(&self.values, bounded) && !e.slopes.iter().all(|&s| bounded(self.values[s as usize])) {
            return false;
        }
        matrix.fill(0.0);
        for &(i, t, word) in &e.entries {
            let v = self.values[slot_of(word)];
            matrix[t as usize * n + i as usize] = if word & NEGATE != 0 { -v } else { v };
        }
        matrix.iter().all(|v| v.is_finite())
    }

    /// Writes an iteration to the journal, with the unknowns as they stand.
    fn note_iteration(&mut self, b: &SolveBlock, method: &'static str, residual: f64, step: f64, damping: f64) {
        if self.journal.is_some() {
            let values = b.unknowns.iter().map(|&s| self.values[s as usize]).collect();
            self.note(|| iteration(method, residual, step, damping, 1.0, values));
        }
    }

    /// Newton's method from `w.z`. The factorization is kept as long as it makes the iteration contract fast; the result
    /// is as accurate as with a new one in each iteration.
    fn newton(&mut self, b: &SolveBlock, form: Form, w: &mut NewtonWork, j: &mut Reduction) -> bool {
        let nominal = |k: usize| match form {
            Form::Full => b.nominal[k],
            Form::Torn | Form::Swept => b.nominal[b.torn.tears[k] as usize],
        };
        let mut z = std::mem::take(&mut w.z);
        let mut r = std::mem::take(&mut w.r);
        let (mut trial, mut rr, mut dz) =
            (std::mem::take(&mut w.trial), std::mem::take(&mut w.rr), std::mem::take(&mut w.dz));
        let n = z.len();
        let found = 'newton: {
            // Whether dr/dv is computed, too.
            let mut at_once = form == Form::Torn && !b.torn.at_once.is_empty();
            let evaluated = match at_once {
                true => self.torn_residual(b, &b.torn.at_once, &z, &mut r),
                false => self.residual_of(b, form, &z, &mut r),
            };
            if !evaluated {
                break 'newton false;
            }
            if let Some(fixed) = &b.fixed {
                let same = w.fixed.len() == fixed.len()
                    && fixed.iter().zip(&w.fixed).all(|(&s, v)| self.values[s as usize].to_bits() == v.to_bits());
                w.factored &= same;
                if !same {
                    w.fixed.clear();
                    w.fixed.extend(fixed.iter().map(|&s| self.values[s as usize]));
                }
            } else if b.linear {
                w.factored = false;
            }
            // Size of the last update, if it came from the same factorization.
            let mut last: Option<f64> = None;
            let mut refined = 0;
            // Smallest update by a new factorization.
            let mut nearest = f64::INFINITY;
            for _ in 0..40 {
                if r.iter().all(|v| *v == 0.0) {
                    // A guess that was led on and solves equations which do not depend on it would go on for ever.
                    break 'newton b.linear || !self.course.leads || self.factor(b, form, w, j);
                }
                let fresh = !w.factored;
                let made = match std::mem::take(&mut at_once) {
                    _ if !fresh => true,
                    true => self.factor_reduced(b, w, j),
                    false => self.factor(b, form, w, j),
                };
                if !made {
                    break 'newton false;
                }
                if form == Form::Swept {
                    let mut all = vec![0.0; b.unknowns.len()];
                    for (&i, &v) in b.torn.residual_rows.iter().zip(&r) {
                        all[i as usize] = v;
                    }
                    w.lu.solve(&mut all);
                    for (d, &j) in dz.iter_mut().zip(&b.torn.tears) {
                        *d = all[j as usize];
                    }
                } else {
                    dz.copy_from_slice(&r);
                    w.lu.solve(&mut dz);
                }
                if dz.iter().any(|v| !v.is_finite()) {
                    w.factored = false;
                    if fresh {
                        break 'newton false;
                    }
                    continue;
                }
                if b.linear {
                    for k in 0..n {
                        z[k] -= dz[k];
                    }
                    match form {
                        Form::Full => self.set_unknowns(b, &z),
                        Form::Torn | Form::Swept => {
                            for (&j, &v) in b.torn.tears.iter().zip(&z) {
                                self.values[b.unknowns[j as usize] as usize] = v;
                            }
                            self.chain(&b.torn.inner);
                        }
                    }
                    self.note_iteration(b, "linear", 0.0, scaled(&dz), 1.0);
                    // From far away (a switch was closed and is open now) the rounding of the guess is left in the solution.
                    let far = (0..n).any(|k| dz[k].abs() > 1e3 * (z[k].abs() + nominal(k)));
                    if far && refined < 3 && self.residual_of(b, form, &z, &mut r) {
                        refined += 1;
                        continue;
                    }
                    break 'newton b.spans.all(&self.values, f64::is_finite)
                        || b.unknowns.iter().all(|&s| self.values[s as usize].is_finite());
                }
                let size = (0..n).map(|k| dz[k].abs() / (z[k].abs() + 1e-3 * nominal(k))).fold(0.0, f64::max);
                let old = scaled(&r);
                if !fresh {
                    // An old factorization must contract well, else a new one is made at the present point.
                    let rate = last.map(|l| size / l);
                    for k in 0..n {
                        trial[k] = z[k] - dz[k];
                    }
                    if size > 0.1
                        || rate.is_some_and(|q| q > 0.2 && size > 1e-11)
                        || !self.residual_of(b, form, &trial, &mut rr)
                        || (scaled(&rr) > 0.5 * old && size > 1e-9)
                    {
                        w.factored = false;
                        last = None;
                        if !self.residual_of(b, form, &z, &mut r) {
                            break 'newton false;
                        }
                        continue;
                    }
                    std::mem::swap(&mut z, &mut trial);
                    std::mem::swap(&mut r, &mut rr);
                    self.note_iteration(b, "Newton", scaled(&r), size, 1.0);
                    let left = size * rate.map_or(1.0, |q| q / (1.0 - q.min(0.9)));
                    if left < 1e-16 || (size < 1e-11 && rate.is_some_and(|q| q > 0.2)) {
                        break 'newton true;
                    }
                    last = Some(size);
                    continue;
                }
                // Damp only if the full step leaves the domain or clearly makes things worse.
                let mut lambda = 1.0;
                loop {
                    for k in 0..n {
                        trial[k] = z[k] - lambda * dz[k];
                    }
                    if self.residual_of(b, form, &trial, &mut rr)
                        && (lambda * size < 1e-3 || scaled(&rr) < 10.0 * old.max(1e-300) || lambda < 0.05)
                    {
                        break;
                    }
                    lambda *= 0.5;
                    if lambda < 1e-4 {
                        break 'newton false;
                    }
                }
                std::mem::swap(&mut z, &mut trial);
                std::mem::swap(&mut r, &mut rr);
                self.note_iteration(b, "Newton", scaled(&r), size, lambda);
                if lambda == 1.0 && size < 1e-9 {
                    break 'newton true;
                }
                // So near, a new Jacobian squares the distance (halves it at a double root): without progress, and with
                // residuals as small as the last digits of the unknowns, rounding is all that is left.
                if lambda == 1.0 && size < 1e-6 && size > 0.7 * nearest {
                    let largest = b.unknowns.iter().fold(0.0f64, |m, &s| m.max(self.values[s as usize].abs()));
                    if scaled(&r) < 16.0 * f64::EPSILON * largest {
                        break 'newton true;
                    }
                }
                nearest = nearest.min(size);
                // Far from the solution the Jacobian is soon out of date.
                if lambda < 1.0 || size > 1e-2 {
                    w.factored = false;
                }
                last = (lambda == 1.0).then_some(size);
            }
            false
        };
        let found = found && !(scaled(&r) > ROUGH && !b.linear && self.at_edge(b));
        if !found {
            w.factored = false;
        }
        w.z = z;
        w.r = r;
        w.trial = trial;
        w.rr = rr;
        w.dz = dz;
        found
    }

    /// Where the Jacobian is singular but the equations agree (a mixing enthalpy without flow, 0·h = 0), what they leave
    /// open stays as it is: minimum-norm steps from the values after the last event, at an event from the present ones.
    fn solve_singular(&mut self, b: &SolveBlock, start: &[f64]) -> bool {
        let n = start.len();
        let nnz = b.work.borrow().reduction.values.len();
        let mut z: Vec<f64> = match self.held.len() {
            0 => start.to_vec(),
            m => b
                .unknowns
                .iter()
                .zip(start)
                .map(|(&s, &v)| if (s as usize) < m { self.held[s as usize] } else { v })
                .collect(),
        };
        let (mut r, mut x, mut values) = (vec![0.0; n], vec![0.0; n], vec![0.0; nnz]);
        // The Jacobian with rows and columns scaled.
        let (mut qr, mut rows, mut scale) = (PivotedQr::default(), vec![1.0; n], Vec::new());
        let mut last = f64::INFINITY;
        for iteration in 0..12 {
            if !self.residual(b, &z, &mut r) {
                return false;
            }
            if iteration == 0 || !b.linear {
                if !self.jacobian(b, &mut values) {
                    return false;
                }
                let mut a = vec![0.0; n * n];
                for (&(_, slot, sign), &(i, j)) in b.entries.iter().zip(&b.places) {
                    a[j * n + i] += sign * self.values[slot as usize];
                }
                scale = z.iter().zip(&b.nominal).map(|(z, m)| z.abs().max(*m)).collect::<Vec<f64>>();
                for i in 0..n {
                    let big = (0..n).fold(0.0f64, |m, j| m.max((a[j * n + i] * scale[j]).abs()));
                    rows[i] = if big > 0.0 { 1.0 / big } else { 1.0 };
                    (0..n).for_each(|j| a[j * n + i] *= rows[i] * scale[j]);
                }
                qr.factor(n, n, &a, 1e-11);
            }
            r.iter_mut().zip(&rows).for_each(|(r, w)| *r *= w);
            let worst = r.iter().fold(0.0f64, |m, r| m.max(r.abs()));
            // As sharp as rounding allows: what the equations do determine must not move with the guess.
            let sharp = worst <= 1e-14 || worst > 0.1 * last || (iteration == 0 && qr.rank() == n);
            if worst <= 1e-11 && sharp {
                self.set_unknowns(b, &z);
                return true;
            }
            // Regular equations are not this method's business; linear ones that do not agree stay where they are.
            if iteration == 11 || (qr.rank() == n && iteration == 0) || (b.linear && worst > 0.5 * last) {
                break;
            }
            last = worst;
            qr.solve(&mut r, &mut x);
            for j in 0..n {
                z[j] -= x[j] * scale[j];
            }
        }
        false
    }

    /// How many unknowns the conditions leave open in these steps, whatever the other values are.
    pub(crate) fn open_count(&mut self, steps: &[Step]) -> usize {
        let mut open = 0;
        for step in steps {
            match step {
                Step::Assign(chain) => self.chain(chain),
                Step::Solve(b) if b.conditional => {
                    let j = &mut b.work.borrow_mut().reduction;
                    if self.jacobian(b, &mut j.values) {
                        open += b.open(j);
                    }
                }
                Step::Mixed(m) => open += self.open_count(&m.continuous),
                _ => {}
            }
        }
        open
    }

    /// Unknowns that linear equations leave open at the present values, although they agree: those whose change some
    /// combination of the others makes up for.
    pub(crate) fn open_unknowns(&mut self, steps: &[Step]) -> Vec<Cell> {
        let mut open = Vec::new();
        for step in steps {
            match step {
                // What losses decide is not open.
                Step::Solve(b) if self.lossy_jacobian(b).is_some() => {}
                Step::Solve(b) if b.linear && b.unknowns.len() <= SINGULAR => self.open_of(b, &mut open),
                Step::Mixed(m) => open.extend(self.open_unknowns(&m.continuous)),
                _ => {}
            }
        }
        open
    }

    fn open_of(&mut self, b: &SolveBlock, open: &mut Vec<Cell>) {
        if self.factor_full(b) {
            return;
        }
        let n = b.unknowns.len();
        let mut a = vec![0.0; n * n];
        for (&(_, slot, sign), &(i, j)) in b.entries.iter().zip(&b.places) {
            a[j * n + i] += sign * self.values[slot as usize] * b.nominal[j];
        }
        for i in 0..n {
            let big = (0..n).fold(0.0f64, |m, j| m.max(a[j * n + i].abs()));
            (0..n).for_each(|j| a[j * n + i] /= if big > 0.0 { big } else { 1.0 });
        }
        if a.iter().any(|v| !v.is_finite()) {
            return;
        }
        let mut qr = PivotedQr::default();
        qr.factor(n, n, &a, 1e-11);
        if qr.rank() == n {
            return;
        }
        // (A⁺A)_jj = 1 where unknown j is determined.
        for j in 0..n {
            let (mut column, mut x) = (a[j * n..(j + 1) * n].to_vec(), vec![0.0; n]);
            qr.solve(&mut column, &mut x);
            if (x[j] - 1.0).abs() > 1e-6 {
                open.push(b.cells[j]);
            }
        }
    }

    /// The ladder of robust methods; only when asked for (initialization, events), else a failure cuts the step.
    fn solve_patiently(&mut self, b: &SolveBlock, start: &[f64]) -> Result<(), Trouble> {
        let n = b.unknowns.len();
        let restore = |me: &mut Machine| {
            for (&s, &v) in b.unknowns.iter().zip(start) {
                me.values[s as usize] = v;
            }
        };
        let mut tried: Vec<String> = Vec::new();
        let mut best = (f64::INFINITY, Vec::new());
        let mut z = start.to_vec();
        // A linear system that is singular and does not agree has no solution to look for.
        if self.patient && n <= 400 && !(b.linear && n <= SINGULAR) {
            self.host.error = None;
            let side = |k: &Option<u32>, d: f64, me: &Machine| k.map_or(d, |s| me.values[s as usize]);
            let mut options = SolveOptions::default();
            options.newton.nominal = b.nominal.clone();
            options.newton.min = b.bounds.iter().map(|x| side(&x.0, f64::NEG_INFINITY, self)).collect();
            options.newton.max = b.bounds.iter().map(|x| side(&x.1, f64::INFINITY, self)).collect();
            // First from the given guesses; then from guesses spread through the block.
            for attempt in 0..2 {
                if attempt == 1 {
                    if b.torn.inner.is_empty() {
                        break;
                    }
                    restore(self);
                    self.chain(&b.torn.inner);
                    z = b.unknowns.iter().map(|&s| self.values[s as usize]).collect();
                    if z.iter().any(|v| !v.is_finite()) {
                        break;
                    }
                }
                let first = z.clone();
                for group in self.method_groups(b.homotopy) {
                    z.copy_from_slice(&first);
                    let outcome = if group == [BlockMethod::Homotopy] {
                        self.follow_homotopy(b, &mut z, &options)
                    } else {
                        options.methods = group
                            .iter()
                            .filter_map(|m| if let BlockMethod::Ladder(m) = m { Some(*m) } else { None })
                            .collect();
                        let method = if let [one] = options.methods[..] { name(one) } else { "robust methods" };
                        let mut sys = Sys { machine: self, block: b, method };
                        solve(&mut sys, &mut z, &options).map(|r| r.method.to_string()).map_err(|e| {
                            let tried = e.tried.iter().map(|t| format!("{} ({})", t.method, t.note)).collect();
                            (e.at.residual_norm, tried)
                        })
                    };
                    let outcome = match outcome {
                        Ok(how)
                            if {
                                self.set_unknowns(b, &z);
                                self.at_infinity(b)
                            } =>
                        {
                            Err((f64::INFINITY, vec![format!("{how} (led to infinity)")]))
                        }
                        Ok(how) if !b.linear && self.at_edge(b) => {
                            Err((f64::INFINITY, vec![format!("{how} (led to the edge of a domain)")]))
                        }
                        other => other,
                    };
                    match outcome {
                        Ok(how) => {
                            for (&s, &v) in b.unknowns.iter().zip(&z) {
                                self.values[s as usize] = v;
                            }
                            self.host.error = None;
                            self.note(|| Note::End { solved: true, how });
                            return Ok(());
                        }
                        Err((norm, mut words)) => {
                            if norm < best.0 || (norm.is_finite() && best.1.is_empty()) {
                                best = (norm, z.clone());
                            }
                            if attempt == 0 {
                                tried.append(&mut words);
                            }
                        }
                    }
                }
            }
            if !best.1.is_empty() {
                z = best.1;
            }
        }
        let reason = match tried.len() {
            0 if b.linear => "the equations are linear, singular and do not agree".to_string(),
            0 => "Newton's method did not converge".to_string(),
            _ => format!("no solution found; tried {}", tried.join(", ")),
        };
        self.note(|| Note::End { solved: false, how: reason.clone() });
        if let Some(e) = self.host.error.take() {
            restore(self);
            return Err(Trouble::Function(e));
        }
        let mut r = vec![0.0; n];
        self.residual(b, &z, &mut r);
        let unknowns = b.cells.iter().copied().zip(z.iter().copied()).collect();
        let mut equations: Vec<((usize, u8), f64)> = b.sources.iter().copied().zip(r.iter().copied()).collect();
        equations.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        let findings = if self.patient && n <= 400 { self.look_around(b, &z, &r) } else { Box::default() };
        restore(self);
        let trouble = Trouble::Unsolved { reason, unknowns, equations, findings };
        if let (true, Some((left, last))) = (self.patient, &mut self.patience) {
            (*left, *last) = (left.saturating_sub(1), Some(trouble.clone()));
        }
        Err(trouble)
    }

    /// Whether the residuals of a "solution" vanish by rounding alone: an unknown has gone where it swallows everything
    /// else, and the equations do not depend on it there.
    fn at_infinity(&mut self, b: &SolveBlock) -> bool {
        let n = b.unknowns.len();
        let value = |j: usize| self.values[b.unknowns[j] as usize];
        if b.linear || n > 400 || !(0..n).any(|j| value(j).abs() > 1e10 * b.nominal[j]) {
            return false;
        }
        let z: Vec<f64> = (0..n).map(value).collect();
        let mut jac = vec![0.0; n * n];
        let before = self.host.error.take();
        let mut sys = Sys { machine: self, block: b, method: "" };
        let known = NonlinearSystem::jacobian(&mut sys, &z, &mut jac).is_ok();
        self.host.error = before;
        let size = |i: usize, j: usize| (jac[j * n + i] * z[j]).abs();
        let rows: Vec<f64> = (0..n).map(|i| (0..n).map(|j| size(i, j)).fold(0.0, f64::max)).collect();
        let lost = |j: usize| (0..n).all(|i| size(i, j) <= 1e-15 * rows[i]);
        known && (0..n).any(|j| z[j].abs() > 1e10 * b.nominal[j] && lost(j))
    }

    /// Whether residuals are left that small steps of Newton's method only seem to take away: at the edge of a domain the slope of
    /// a root is all but infinite. Further away than such steps go, residuals must be seen to change by as much as is left.
    fn at_edge(&mut self, b: &SolveBlock) -> bool {
        let n = b.unknowns.len();
        let z: Vec<f64> = b.unknowns.iter().map(|&s| self.values[s as usize]).collect();
        let (mut r, mut other, mut change) = (vec![0.0; n], vec![0.0; n], vec![0.0f64; n]);
        let before = self.host.error.take();
        if self.residual(b, &z, &mut r) && scaled(&r) > ROUGH {
            for side in [1.0, -1.0] {
                // Not all by the same part: differences are to change, too.
                let aside = |k: usize| side * (1.0 + 0.1 * (k % 7) as f64) * 1e-6 * (z[k].abs() + b.nominal[k]);
                let there: Vec<f64> = (0..n).map(|k| z[k] + aside(k)).collect();
                if self.residual(b, &there, &mut other) {
                    for i in 0..n {
                        change[i] = change[i].max((other[i] - r[i]).abs());
                    }
                } else {
                    self.host.error = None;
                }
            }
        }
        self.set_unknowns(b, &z);
        self.host.error = before;
        r.iter().zip(&change).any(|(r, c)| r.abs() > ROUGH && !(*c > r.abs()))
    }

    /// The methods, in groups that one call of the solver works through; apart if a journal wants to tell them apart.
    fn method_groups(&self, homotopy: bool) -> Vec<Vec<BlockMethod>> {
        let mut groups: Vec<Vec<BlockMethod>> = Vec::new();
        for &m in self.methods.iter().filter(|m| homotopy || **m != BlockMethod::Homotopy) {
            match groups.last_mut() {
                Some(g)
                    if self.journal.is_none() && m != BlockMethod::Homotopy && !g.contains(&BlockMethod::Homotopy) =>
                {
                    g.push(m);
                }
                _ => groups.push(vec![m]),
            }
        }
        groups
    }

    /// Follows the block's own `homotopy()` from the simplified to the actual equations.
    fn follow_homotopy(
        &mut self,
        b: &SolveBlock,
        z: &mut [f64],
        options: &SolveOptions,
    ) -> Result<String, (f64, Vec<String>)> {
        let slot = self.lambda();
        let how = HomotopyOptions { newton: options.newton.clone(), ..options.homotopy.clone() };
        let mut sys = Sys { machine: self, block: b, method: "homotopy" };
        let outcome = continuation(&mut sys, z, &how);
        self.values[slot as usize] = 1.0;
        match outcome {
            Ok(r) => Ok(format!("homotopy() continuation, {} steps", r.steps)),
            Err(e) => Err((f64::INFINITY, vec![format!("homotopy() ({})", lost(&e))])),
        }
    }

    /// The slot of the homotopy parameter.
    pub fn lambda(&self) -> u32 {
        // Slots are handed out in this order when a model is made: time, initial, terminal, lambda.
        self.time + 3
    }

    /// Condition, bounds and sensitivities where a solution failed.
    fn look_around(&mut self, b: &SolveBlock, z: &[f64], r: &[f64]) -> Box<Findings> {
        let n = z.len();
        let mut found = Findings::default();
        let mut jac = vec![0.0; n * n];
        let at = |me: &Machine, s: Option<u32>| s.map(|s| me.values[s as usize]);
        for (k, bound) in b.bounds.iter().enumerate() {
            let near = |v: Option<f64>| v.is_some_and(|v| (z[k] - v).abs() <= 1e-9 * v.abs().max(b.nominal[k]));
            if near(at(self, bound.0)) || near(at(self, bound.1)) {
                found.at_bounds.push(b.cells[k]);
            }
        }
        let mut sys = Sys { machine: self, block: b, method: "" };
        if NonlinearSystem::jacobian(&mut sys, z, &mut jac).is_err() || r.iter().any(|v| !v.is_finite()) {
            return Box::new(found);
        }
        let scale: Vec<f64> = z.iter().zip(&b.nominal).map(|(z, m)| z.abs().max(*m)).collect();
        let mut rows = vec![0.0f64; n];
        for j in 0..n {
            for i in 0..n {
                jac[j * n + i] *= scale[j];
                rows[i] = rows[i].max(jac[j * n + i].abs());
            }
        }
        for j in 0..n {
            for i in 0..n {
                jac[j * n + i] /= if rows[i] > 0.0 { rows[i] } else { 1.0 };
            }
        }
        let res: Vec<f64> = r.iter().zip(&rows).map(|(r, s)| if *s > 0.0 { r / s } else { *r }).collect();
        let norm = res.iter().map(|v| v * v).sum::<f64>().sqrt();
        for j in 0..n {
            let g: f64 = (0..n).map(|i| jac[j * n + i] * res[i]).sum();
            found.sensitivity.push((b.cells[j], if norm > 0.0 { (g / norm).abs() } else { 0.0 }));
        }
        found.sensitivity.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut lu = saltus_solver::nonlinear::dense::Lu::new();
        found.condition = Some(match lu.factor(n, &jac, &vec![1.0; n]) {
            Ok(()) => 1.0 / lu.pivot_ratio(),
            Err(_) => f64::INFINITY,
        });
        Box::new(found)
    }
}

/// Why a continuation ended early, in words.
fn lost(e: &HomotopyFailure) -> String {
    match e {
        HomotopyFailure::Start => "the simplified problem has no solution".into(),
        HomotopyFailure::Stuck { lambda, .. } => format!("stuck at λ = {lambda:.4}"),
        HomotopyFailure::Lost { lambda, .. } => format!("the path turned back after λ = {lambda:.4}"),
    }
}

fn name(m: Method) -> &'static str {
    match m {
        Method::Newton => "damped Newton",
        Method::LevenbergMarquardt => "Levenberg-Marquardt",
        Method::Dogleg => "dogleg",
        Method::Bracketing => "bracketing",
        Method::NewtonHomotopy => "Newton homotopy",
        Method::FixedPointHomotopy => "fixed-point homotopy",
        Method::PiecewiseLinear => "piecewise-linear continuation",
        Method::MultiStart => "multi-start",
    }
}

/// A block as the solver sees it.
struct Sys<'a> {
    machine: &'a mut Machine,
    block: &'a SolveBlock,
    /// For the journal.
    method: &'static str,
}
impl NonlinearSystem for Sys<'_> {
    fn dim(&self) -> usize {
        self.block.unknowns.len()
    }
    fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Result<(), DomainError> {
        if self.machine.residual(self.block, z, r) { Ok(()) } else { Err(DomainError) }
    }
    fn jacobian(&mut self, z: &[f64], jac: &mut [f64]) -> Result<bool, DomainError> {
        for (&s, &v) in self.block.unknowns.iter().zip(z) {
            self.machine.values[s as usize] = v;
        }
        self.machine.chain(&self.block.jacobian);
        jac.fill(0.0);
        let n = z.len();
        for (&(_, slot, sign), &(i, j)) in self.block.entries.iter().zip(&self.block.places) {
            jac[j * n + i] += sign * self.machine.values[slot as usize];
        }
        if self.machine.journal.is_some() {
            let (m, b) = (&mut *self.machine, self.block);
            let mut r = vec![0.0; n];
            m.residual(b, z, &mut r);
            let (residual, lambda) = (scaled(&r), m.values[m.lambda() as usize]);
            m.note(|| iteration(self.method, residual, f64::NAN, f64::NAN, lambda, z.to_vec()));
        }
        if jac.iter().all(|v| v.is_finite()) { Ok(true) } else { Err(DomainError) }
    }
}

impl Homotopy for Sys<'_> {
    fn dim(&self) -> usize {
        self.block.unknowns.len()
    }
    fn residual(&mut self, z: &[f64], lambda: f64, r: &mut [f64]) -> Result<(), DomainError> {
        let slot = self.machine.lambda();
        self.machine.values[slot as usize] = lambda;
        NonlinearSystem::residual(self, z, r)
    }
}

fn iteration(method: &'static str, residual: f64, step: f64, damping: f64, lambda: f64, values: Vec<f64>) -> Note {
    Note::Iteration { method, residual, step, damping, lambda, values }
}

fn scaled(r: &[f64]) -> f64 {
    r.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}
